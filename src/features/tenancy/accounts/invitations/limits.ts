/**
 * Limits on invitations, by the rows of earlier ones, revoked and accepted ones too: nobody is flooded
 * with mail by inviting and revoking in turns.
 */
import { DAY_MS, HOUR_MS } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import { and, desc, eq, gt, type SQL } from '../../../../store/drizzle.ts'
import { invitations } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { oldRows, type Retention } from '../../../../work/retention.ts'

type Limit = { max: number; windowMs: number; text: string }

/** Of one project. */
const BY_PROJECT: Limit = {
  max: 50,
  windowMs: DAY_MS,
  text: 'A project can invite 50 times a day.',
}
/** Mails of one project to one address. */
const TO_ADDRESS: Limit = {
  max: 3,
  windowMs: HOUR_MS,
  text: 'This address was invited 3 times in the last hour.',
}
/** Mails of all projects to one address. */
const TO_ADDRESS_BY_ALL: Limit = {
  max: 10,
  windowMs: DAY_MS,
  text: 'This address was invited too often today.',
}

type NewInvitation = { projectId: string; address: string; isMailed: boolean; at: number }

/** @throws AppError RATE_LIMIT_EXCEEDED */
export async function refuseTooMany(
  tx: Tx,
  { projectId, address, isMailed, at }: NewInvitation,
): Promise<void> {
  const isOfProject = eq(invitations.projectId, projectId)
  await refuseOver(tx, BY_PROJECT, { which: isOfProject, at })
  if (!isMailed) return
  const isMailTo = and(eq(invitations.address, address), eq(invitations.isMailed, true))
  await refuseOver(tx, TO_ADDRESS, { which: and(isOfProject, isMailTo), at })
  await refuseOver(tx, TO_ADDRESS_BY_ALL, { which: isMailTo, at })
}

async function refuseOver(
  tx: Tx,
  { max, windowMs, text }: Limit,
  { which, at }: { which: SQL | undefined; at: number },
): Promise<void> {
  const newest = await tx
    .select({ createdAt: invitations.createdAt })
    .from(invitations)
    .where(and(which, gt(invitations.createdAt, at - windowMs)))
    .orderBy(desc(invitations.createdAt))
    .limit(max)
  const last = newest.at(max - 1)
  if (last === undefined) return
  const retryAfter = Math.ceil((last.createdAt + windowMs - at) / 1000)
  throw new AppError('RATE_LIMIT_EXCEEDED', text, { details: { limit: max, retryAfter } })
}

/** Deletes old invitations, which hold the addresses of people. */
export const INVITATIONS: Retention = {
  name: 'delete-expired-invitations',
  schedule: '30 3 * * *',
  // Longer than an invitation is open, and than any limit looks back.
  keptMs: 30 * DAY_MS,
  deletions: [
    oldRows({
      ...{ table: 'invitations', key: 'id', column: 'created_at' },
      index: 'invitations_oldest',
    }),
  ],
  pace: { first: 100, max: 2_000, batchMs: 4, rest: { times: 2 } },
}
