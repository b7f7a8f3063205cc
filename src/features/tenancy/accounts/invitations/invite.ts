/**
 * Invites an address to a project. The answer and the rows are the same whether the address has an
 * account or not, so the answer does not show who has one; membership begins when the invitation is
 * accepted. The invitation is bound to the address and the role. Its link is mailed; a server that
 * has no mail for its users gives the link to the user who invites.
 *
 * The limits also count earlier invitations that were revoked or accepted, so nobody can flood a
 * mailbox by inviting and revoking in turns.
 */
import { DAY_MS, HOUR_MS } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { GivenRole, Invited } from '../../../../records/member.ts'
import { and, desc, eq, gt, type SQL } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { invitations, memberships, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { oldRows, type Retention } from '../../../../work/retention.ts'
import type { Base } from '../../../ground/base.ts'
import { digestLinkToken, makeLinkToken } from '../links/link-tokens.ts'
import { alreadyMember } from '../members/member.ts'
import { requireAdmin } from '../members/require-admin.ts'
import { enqueuePlatformMail } from '../platform-mail/enqueue.ts'
import { findMailProjectId } from '../platform-mail/sender.ts'
import { revokeInvitationsTo } from './revoke.ts'

type Invitee = {
  projectId: string
  /** The invited address, as `ParsedAddress.address`. */
  address: string
  role: GivenRole
  /** The id of the user who invites. */
  actorId: string
}

type NewInvitation = Omit<Invitee, 'actorId'> & {
  /** The id of the user who invites. */
  invitedBy: string
  /** The digest of the token; null when the link is mailed, because the mail makes its token. */
  digest: string | null
  at: number
}

const LIFETIME_MS = 7 * DAY_MS

type InvitationLimit = { max: number; windowMs: number; text: string }

/** The limit of a project's invitations. */
const BY_PROJECT: InvitationLimit = {
  max: 50,
  windowMs: DAY_MS,
  text: 'A project can invite 50 times a day.',
}
/** The limit of mails of one project to one address. */
const TO_ADDRESS: InvitationLimit = {
  max: 3,
  windowMs: HOUR_MS,
  text: 'This address was invited 3 times in the last hour.',
}
/** The limit of mails of all projects to one address. */
const TO_ADDRESS_BY_ALL: InvitationLimit = {
  max: 10,
  windowMs: DAY_MS,
  text: 'This address was invited too often today.',
}

type InvitationFacts = { projectId: string; address: string; isMailed: boolean; at: number }

/** Deletes old invitations, because they contain addresses of people. */
export const INVITATIONS: Retention = {
  name: 'delete-expired-invitations',
  schedule: '30 3 * * *',
  // Longer than an invitation stays open, and longer than the window of any limit.
  keptMs: 30 * DAY_MS,
  deletions: [
    oldRows({
      ...{ table: 'invitations', key: 'id', column: 'created_at' },
      index: 'invitations_oldest',
    }),
  ],
  pace: { first: 100, max: 2_000, batchMs: 4, rest: { times: 2 } },
}

/**
 * Invites an address. A member of the project cannot be invited; that refusal tells an admin
 * nothing new, because admins see the members.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN, CONFLICT, RATE_LIMIT_EXCEEDED
 */
export async function inviteMember(
  { store, config, now }: Pick<Base, 'store' | 'config' | 'now'>,
  { projectId, address, role, actorId }: Invitee,
): Promise<Invited> {
  const isMailed = (await findMailProjectId({ config }, store.read)) !== undefined
  const token = isMailed ? undefined : makeLinkToken()
  const digest = token === undefined ? null : digestLinkToken(token)
  const at = now()
  await store.write(async (tx) => {
    await requireAdmin(tx, { projectId, userId: actorId })
    if (await isMember(tx, { projectId, address })) throw alreadyMember()
    await insertInvitation(tx, { projectId, address, role, invitedBy: actorId, digest, at })
  })
  const link = token === undefined ? {} : { url: `${config.baseUrl}/invitations/${token}` }
  return { invited: true, email: address, role, ...link }
}

/**
 * Inserts an invitation. An open one of the project to the same address is revoked, because only
 * the newest link works.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<void> {
  const { projectId, address, role, invitedBy, digest, at } = invitation
  const isMailed = digest === null
  await refuseTooMany(tx, { projectId, address, isMailed, at })
  await revokeInvitationsTo(tx, { projectId, address, at })
  const id = newId()
  await tx.insert(invitations).values({
    ...{ id, projectId, address, role, digest, invitedBy, isMailed },
    ...{ createdAt: at, expiresAt: at + LIFETIME_MS },
  })
  if (isMailed) await enqueuePlatformMail(tx, { kind: 'invitation', invitationId: id }, at)
}

async function isMember(
  tx: Tx,
  { projectId, address }: Pick<Invitee, 'projectId' | 'address'>,
): Promise<boolean> {
  const found = await tx
    .select({ userId: memberships.userId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.projectId, projectId), eq(users.address, address)))
    .get()
  return found !== undefined
}

/** @throws AppError RATE_LIMIT_EXCEEDED */
async function refuseTooMany(
  tx: Tx,
  { projectId, address, isMailed, at }: InvitationFacts,
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
  { max, windowMs, text }: InvitationLimit,
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
