/**
 * Takes claimed emails back unsent: recalls those whose attempt has not begun, puts them back in the
 * queue, and puts aside, holds or ends those that may no longer be sent. Marks due emails whose site
 * is paused. No attempt is counted. The reason of the site is written to emails that have no error of
 * their own.
 */
import { listOf, rowNumber, unseen } from '../../../../store/dialect.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { type Email, emails } from '../../../../store/schema/messages.ts'
import { SHELF, shelfInState, shelfOfPaused } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { RefusedEmail } from '../delivery/prepare.ts'
import { type Ending, endEmails } from '../outcome/end-emails.ts'
import { isDomainHeld } from './holds.ts'
import type { QueueLane, QueueNotifier } from './notifier.ts'

const released = { retryAt: null, leaseUntil: null, status: 'PENDING' as const }

const putBackState = sql`case when ${emails.attemptCount} > 1 or ${parameter('reason')} is not null
  then 'deferred' else 'queued' end`
const withoutClaimed = sql`${emails.attemptCount} - 1`

export const makeDue = statement((db) =>
  db
    .update(emails)
    .set({
      ...released,
      state: putBackState,
      shelf: shelfInState(putBackState),
      error: sql`coalesce(${emails.error}, ${parameter('reason')})`,
      dueAt: parameter('dueAt'),
      attemptCount: withoutClaimed,
    })
    .where(
      sql`${emails.id} in ${listOf(parameter('ids'))}
        and ${emails.state} = 'sending'`,
    )
    .returning({
      queueClass: emails.queueClass,
      domain: emails.recipientDomain,
      projectId: emails.projectId,
    }),
)

/** An email in flight that may be recalled; undefined before it is handed to outbound. */
type Recallable = Pick<Email, 'projectId' | 'recipientDomain'> | undefined

/**
 * Recalls the emails of held domains, of fenced and of disabled projects, and those of stopped
 * campaigns. A recalled email is put back, claimed again, and then refused or held.
 */
export async function recallStopped(
  { directory, outbound }: Pick<Base, 'directory' | 'outbound'>,
  inFlight: ReadonlyMap<string, Recallable>,
): Promise<void> {
  const stoppedCampaigns = await directory.stoppedCampaigns()
  if (stoppedCampaigns.size > 0) outbound.withdraw(new Set(stoppedCampaigns.keys()))
  const claimed = [...inFlight.values()].filter((email) => email !== undefined)
  const held = await directory.heldDomains()
  const fences = await directory.unsettledFences()
  const disabled = new Set<string>()
  for (const id of new Set(claimed.map(({ projectId }) => projectId))) {
    if ((await directory.findProject(id))?.isDisabled !== false) disabled.add(id)
  }
  const stopped = claimed.filter(({ projectId, recipientDomain }) => {
    return disabled.has(projectId) || held.has(recipientDomain) || fences.has(projectId)
  })
  recallEmails({ outbound }, stopped)
}

/** Recalls all emails to the sites of these emails. */
export function recallEmails(
  { outbound }: Pick<Base, 'outbound'>,
  recalled: readonly Recallable[],
): void {
  const domains = recalled.flatMap((email) => email?.recipientDomain ?? [])
  for (const site of new Set(domains.map(outbound.siteOf))) outbound.recall(site)
}

/** Puts emails back; they are due at `dueAt`. `reason`: why their site takes no mail. */
export async function putBackEmails(
  { queueNotifier }: { queueNotifier: QueueNotifier },
  tx: Tx,
  { ids, dueAt, reason }: { ids: readonly string[]; dueAt: number; reason?: string | undefined },
): Promise<void> {
  const rows = { ids: JSON.stringify(ids), dueAt, reason: reason ?? null }
  const lanes = await tx.list(makeDue, rows)
  tx.afterCommit(() => {
    for (const lane of lanes) queueNotifier.notify({ ...lane, dueAt })
  })
}

/** Reads the index `emails_ready`, and only the rows that it changes. */
export const deferLane = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'deferred',
      shelf: shelfInState(sql`'deferred'`),
      error: sql`coalesce(${emails.error}, ${parameter('reason')})`,
      updatedAt: parameter('at'),
    })
    .where(
      sql`${rowNumber()} in (select ${rowNumber()} from emails where due_at is not null
        and queue_class = ${unseen(parameter('queueClass'))}
        and recipient_domain = ${unseen(parameter('domain'))}
        and project_id = ${unseen(parameter('projectId'))}
        and due_at >= ${unseen(parameter('from'))}
        and due_at <= ${unseen(parameter('at'))} and state = 'queued'
        order by due_at limit ${unseen(parameter('limit'))})`,
    )
    .returning({ dueAt: emails.dueAt }),
)

type WaitingLane = {
  lane: QueueLane
  reason: string
  /** Emails due before this instant already have the reason. */
  from: number
  at: number
  limit: number
}

/**
 * Writes the reason to at most `limit` due emails of a lane whose site is paused, the earliest
 * first. Returns the number of these emails, and the due time of the last one; null when no further
 * email is due.
 */
export async function deferWaiting(
  tx: Tx,
  { lane, ...rest }: WaitingLane,
): Promise<{ count: number; deferredUntil: number | null }> {
  const deferred = await tx.list(deferLane, { ...lane, ...rest })
  const count = deferred.length
  if (count < rest.limit) return { count, deferredUntil: null }
  return { count, deferredUntil: Math.max(...deferred.map(({ dueAt }) => dueAt ?? rest.from)) }
}

const pauseSending = statement((db) =>
  db
    .update(emails)
    .set({
      ...released,
      state: 'paused',
      shelf: shelfOfPaused(withoutClaimed),
      heldAt: parameter('at'),
      dueAt: null,
      attemptCount: withoutClaimed,
      updatedAt: parameter('at'),
    })
    .where(
      sql`${emails.id} in ${listOf(parameter('ids'))}
        and ${emails.state} = 'sending'`,
    ),
)

/**
 * Puts claimed emails aside, because their campaign is paused, its sender domain was lost, their
 * project was disabled for its reputation, or a fence holds them. The loops that the notifier wakes
 * pause the campaign, or make the emails due again.
 */
async function pauseClaimed(
  { campaignNotifier }: Pick<Base, 'campaignNotifier'>,
  tx: Tx,
  { ids, at }: { ids: readonly string[]; at: number },
): Promise<void> {
  if (ids.length === 0) return
  await tx.execute(pauseSending, { ids: JSON.stringify(ids), at })
  tx.afterCommit(() => campaignNotifier.notify())
}

/**
 * Holds a claimed email whose recipient domain an operator holds; its give-up clock stops. If the
 * hold has ended, the email is due at once.
 */
async function putOnHold(
  deps: { queueNotifier: QueueNotifier },
  tx: Tx,
  { id, domain, at }: { id: string; domain: string; at: number },
): Promise<void> {
  if (!(await isDomainHeld(tx, domain))) return putBackEmails(deps, tx, { ids: [id], dueAt: at })
  await tx
    .update(emails)
    .set({
      ...released,
      state: 'held',
      shelf: SHELF.held,
      heldAt: at,
      dueAt: null,
      attemptCount: withoutClaimed,
      updatedAt: at,
    })
    .where(and(eq(emails.id, id), eq(emails.state, 'sending')))
}

/** Puts aside, holds or ends claimed emails that may no longer be sent. */
export async function refuseClaimed(
  deps: Pick<Base, 'campaignNotifier' | 'counters' | 'log'> & { queueNotifier: QueueNotifier },
  tx: Tx,
  { refused, at }: { refused: readonly RefusedEmail[]; at: number },
): Promise<void> {
  for (const { email, refusal } of refused) {
    const { id, recipientDomain: domain } = email
    if (refusal === 'held') await putOnHold(deps, tx, { id, domain, at })
  }
  const paused = refused.filter(({ refusal }) => refusal === 'paused')
  await pauseClaimed(deps, tx, { ids: paused.map(({ email }) => email.id), at })
  await endEmails(deps, tx, { endings: refused.flatMap(toEnding), at })
}

function toEnding({ email, refusal }: RefusedEmail): Ending[] {
  const sending = { ...email, state: 'sending' } as const
  if (refusal === 'held' || refusal === 'paused' || refusal === 'erased') return []
  if (refusal === 'suppressed') return [{ email: sending, end: { state: 'suppressed' } }]
  if (refusal === 'cancelled') {
    return [{ email: sending, end: { state: 'failed', error: 'cancelled', reason: 'cancelled' } }]
  }
  const { error } = refusal
  return [{ email: sending, end: { state: 'failed', error, reason: 'refused' } }]
}
