/**
 * Undoes the effects of bounces (HARD_BOUNCE, STRIKES) since an instant: drops held suppressions,
 * removes addresses from the list, deletes their strikes since then, and subscribes the contacts
 * again that these suppressions unsubscribed.
 *
 * Decisions of people stay. A contact that unsubscribed in another way, before or since, stays
 * unsubscribed. An address that was also added by hand, or that complained, stays on the list for
 * that reason.
 */
import { jsonValue } from '../../../store/dialect.ts'
import { and, asc, eq, gt, gte, inArray, isNotNull, or, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import {
  heldSuppressions,
  type Suppression,
  suppressions,
} from '../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { sweep } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { setSubscribed } from '../../people/contacts/write/set-subscribed.ts'
import { isLeaving } from '../../people/wishes/wishes.ts'
import { deleteStrikesSince } from '../messages/outcome/strikes.ts'
import { countHeldSuppressions, type HeldScope, isHeldIn } from './held-suppressions.ts'

type UndoResult = {
  /** The number of held suppressions that were deleted. */
  dropped: number
  /** The number of addresses that were removed from the suppression list. */
  removed: number
  /** The number of contacts that were subscribed again. */
  resubscribed: number
  /**
   * The number of addresses that stay on the list, because of a complaint or because they were
   * added by hand.
   */
  kept: number
  /**
   * The number of suppressions that stay held, because they are from before `since` or of other
   * projects. While there are any, the fuse stays blown.
   */
  remaining: number
}

type Deps = Pick<Base, 'store' | 'now'>
type UndoScope = HeldScope & { since: number }
type SuppressionPosition = Pick<Suppression, 'createdAt' | 'id'>

const BATCH = 100
const UNDO_RULES = {
  pace: { rows: BATCH, rest: 'none' },
  heavyFor: undefined,
  until: 'short',
} as const

/**
 * Finds the contact that has a suppressed address now. A contact that had the address before is
 * left alone, because it may have unsubscribed at its new address.
 */
const findHolder = statement((db) =>
  db
    .select({ contactId: contacts.id })
    .from(contacts)
    .where(
      and(
        eq(contacts.projectId, parameter('projectId')),
        eq(contacts.address, parameter('address')),
      ),
    ),
)

/** The last change of a contact's subscription. */
const findLastChange = statement<{ name: string; emailId: string | null; reason: unknown }>(
  () => sql`select name, email_id as emailId, ${jsonValue(sql`data`, 'reason')} as reason from events
    where contact_id = ${parameter('contactId')}
      and name in ('contact.subscribed', 'contact.unsubscribed')
    order by seq desc limit 1`,
)

const deleteSuppression = statement((db) =>
  db.delete(suppressions).where(eq(suppressions.id, parameter('id'))),
)

/** Keeps the entry of the list, now for its later reason: a complaint, or an addition by hand. */
const applyLaterReason = statement((db) =>
  db
    .update(suppressions)
    .set({
      reason: sql`${suppressions.laterReason}`,
      source: sql`case ${suppressions.laterReason} when 'COMPLAINT' then 'complaint'
        else 'API or command line' end`,
      emailId: sql`null`,
      laterReason: sql`null`,
    })
    .where(eq(suppressions.id, parameter('id'))),
)

/** `since`: epoch ms. A second call changes nothing. */
export async function undoSuppressions(deps: Deps, scope: UndoScope): Promise<UndoResult> {
  const undone = { dropped: await deleteHeld(deps, scope), removed: 0, resubscribed: 0, kept: 0 }
  for (const projectId of await listProjectIds(deps, scope)) {
    let after: SuppressionPosition | undefined
    await sweep(deps, UNDO_RULES, async (tx) => {
      const some = await undoSome(deps, tx, { projectId, since: scope.since, after })
      tx.afterCommit(() => {
        undone.removed += some.removed
        undone.resubscribed += some.resubscribed
        undone.kept += some.kept
        after = some.last
      })
      return some.count
    })
  }
  return { ...undone, remaining: await countHeldSuppressions(deps, { cause: 'fuse' }) }
}

/** The index of the list begins with the project, so projects are handled one after the other. */
async function listProjectIds({ store }: Deps, { projectId }: UndoScope): Promise<string[]> {
  if (projectId !== undefined) return [projectId]
  return (await store.scan.select({ id: projects.id }).from(projects)).map(({ id }) => id)
}

function deleteHeld(deps: Deps, scope: UndoScope): Promise<number> {
  return sweep(deps, UNDO_RULES, (tx) => dropSome(tx, scope))
}

async function dropSome(tx: Tx, scope: UndoScope): Promise<number> {
  const held = { id: heldSuppressions.id, projectId: heldSuppressions.projectId }
  const rows = await tx
    .select({ ...held, address: heldSuppressions.address })
    .from(heldSuppressions)
    .where(isHeldIn(scope))
    .limit(BATCH)
  for (const row of rows) await deleteStrikesSince(tx, { ...row, since: scope.since })
  const ids = rows.map(({ id }) => id)
  await tx.delete(heldSuppressions).where(inArray(heldSuppressions.id, ids))
  return rows.length
}

type SuppressionPage = { projectId: string; since: number; after: SuppressionPosition | undefined }

async function undoSome({ now }: Deps, tx: Tx, page: SuppressionPage) {
  const rows = await listBounceSuppressions(tx, page)
  const counts = { removed: 0, resubscribed: 0, kept: 0 }
  for (const row of rows) {
    if (row.laterReason !== null) {
      await tx.execute(applyLaterReason, { id: row.id })
      counts.kept += 1
      continue
    }
    await tx.execute(deleteSuppression, { id: row.id })
    await deleteStrikesSince(tx, { ...row, since: page.since })
    counts.removed += 1
    if (await subscribeAgain(tx, row, now())) counts.resubscribed += 1
  }
  return { ...counts, last: rows.at(-1), count: rows.length }
}

/** A suppression by a bounce refers to the bounced email; one added by hand refers to none. */
function listBounceSuppressions(
  tx: Tx,
  { projectId, since, after }: SuppressionPage,
): Promise<Suppression[]> {
  const { createdAt, id } = suppressions
  return tx
    .select()
    .from(suppressions)
    .where(
      and(
        eq(suppressions.projectId, projectId),
        gte(createdAt, after?.createdAt ?? since),
        inArray(suppressions.reason, ['HARD_BOUNCE', 'STRIKES']),
        isNotNull(suppressions.emailId),
        after && or(gt(createdAt, after.createdAt), gt(id, after.id)),
      ),
    )
    .orderBy(asc(createdAt), asc(id))
    .limit(BATCH)
    .all()
}

/** Subscribes the contact only if this suppression unsubscribed it and no change came after. */
async function subscribeAgain(tx: Tx, row: Suppression, at: number): Promise<boolean> {
  const { projectId, address, emailId } = row
  if (emailId === null || (await isLeaving(tx, row))) return false
  const contactId = (await tx.find(findHolder, { projectId, address }))?.contactId
  if (contactId === undefined) return false
  const last = await tx.find(findLastChange, { contactId })
  const isByBounce = last?.name === 'contact.unsubscribed' && last.reason === 'bounce'
  if (!isByBounce || last.emailId !== emailId) return false
  return setSubscribed(tx, contactId, { subscribed: true, reason: 'manual', emailId, at })
}
