/**
 * Claims emails of many lanes: one statement for each limit leases the due ones, and one for all lanes finds when
 * each is due next. A claim returns all columns that the delivery needs, so that the row is not read again.
 */
import type { RowOf } from '../../../../store/database.ts'
import {
  addressDigest,
  eachOf,
  jsonItem,
  jsonListOf,
  orderedJoin,
  rowNumber,
  unseen,
} from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { isOwnWish } from '../../../people/wishes/wishes.ts'
import { sourceColumns } from '../delivery/source.ts'
import type { Lanes } from './lanes.ts'
import type { PlannedClaim } from './plan-claims.ts'
import { retryDelay } from './retry-delay.sqlite.ts'
import type { Throttle } from './throttle.ts'

/** The queue renews the leases of emails in flight. */
export const LEASE_MS = 30_000

/** A claimed email, with the facts that decide whether it may still be sent. */
export type ClaimedEmail = RowOf<typeof claimLanes>

/** Of the recipient's address; links and the return path carry it. */
const digest = addressDigest(sql`emails.project_id`, sql`emails.recipient`)

/** Whether the recipient of an email may get mail. Nobody asks for a wish before transactional mail. */
export const recipientColumns = {
  isSubscribed: sql<boolean>`(select subscribed from contacts
    where contacts.id = emails.contact_id)`.mapWith(Boolean),
  isSuppressed: sql<boolean>`exists (select 1 from suppressions
    where suppressions.project_id = emails.project_id
    and suppressions.email = emails.recipient
    and not (emails.ignores_complaint and suppressions.reason = 'COMPLAINT'))`.mapWith(Boolean),
  hasLeft: sql<boolean>`(emails.content_class <> 'TRANSACTIONAL' and exists (select 1 from wishes
    where wishes.digest = ${digest} and ${isOwnWish}))`.mapWith(Boolean),
}

/** Leases due emails: of each lane at most `limit`, the earliest first. `lanes`: as `toItem` makes them. */
export const claimLanes = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'sending',
      status: 'SENDING',
      dueAt: null,
      retryAt: sql`${parameter('now')} + ${retryDelay(parameter('delays'), emails.failureCount)}`,
      leaseUntil: parameter('leaseUntil'),
      attemptCount: sql`${emails.attemptCount} + 1`,
      updatedAt: parameter('now'),
    })
    .where(sql`${rowNumber()} in (${dueOfLanes()})`)
    .returning({
      ...sourceColumns,
      sealedVariables: emails.sealedVariables,
      recipientDomain: emails.recipientDomain,
      queueClass: emails.queueClass,
      giveUpAt: emails.giveUpAt,
      failureCount: emails.failureCount,
      attemptCount: emails.attemptCount,
      digest: sql<Buffer>`${digest}`,
      ...recipientColumns,
    }),
)

/** When the earliest email of each lane is due; null for an empty lane. */
export const listNextDue = statement<{ position: number; dueAt: number | null }>(
  () => sql`select ${item(3)} as position,
      (select min(due_at) from emails where ${isOfLane()}) as "dueAt"
    from ${eachOf(parameter('lanes'))} as lane`,
)

type Deps = Pick<Base, 'config' | 'now'> & { throttle: Throttle; lanes: Pick<Lanes, 'setDueAt'> }

/** Claims what is planned, and records when the lanes are due next. */
export async function claimFromLanes(
  { config, now, throttle, lanes }: Deps,
  tx: Tx,
  claims: readonly PlannedClaim[],
): Promise<ClaimedEmail[]> {
  const at = now()
  const claimed: ClaimedEmail[] = []
  for (const [limit, some] of Map.groupBy(claims, (claim) => claim.limit)) {
    const rows = await tx.list(claimLanes, {
      ...{ limit, now: at, leaseUntil: at + LEASE_MS },
      lanes: JSON.stringify(some.map(toItem)),
      delays: JSON.stringify(config.delivery.retrySchedule),
    })
    claimed.push(...rows)
  }
  const next = await tx.list(listNextDue, { lanes: JSON.stringify(claims.map(toItem)) })
  tx.afterCommit(() => {
    if (throttle.emailsPerSecond !== null) spend(throttle, claimed)
    for (const { position, dueAt } of next) {
      const lane = claims[position]?.lane
      if (lane !== undefined && (dueAt === null || dueAt > at)) lanes.setDueAt(lane, dueAt)
    }
  })
  return claimed
}

function spend(throttle: Throttle, claimed: readonly ClaimedEmail[]): void {
  for (const [projectId, { length }] of Map.groupBy(claimed, (email) => email.projectId)) {
    throttle.spend(projectId, length)
  }
}

function toItem({ lane }: PlannedClaim, position: number) {
  return [lane.queueClass, lane.domain, lane.projectId, position]
}

/** The engine looks into the index once for each lane. */
function dueOfLanes() {
  const due = sql`(select ${jsonListOf(sql`number`)} from (select ${rowNumber()} as number from emails
    where ${isOfLane()} and due_at <= ${unseen(parameter('now'))}
    order by due_at limit ${unseen(parameter('limit'))}))`
  return sql`select due.value from ${eachOf(parameter('lanes'))} as lane
    ${orderedJoin()} ${eachOf(due)} as due`
}

function isOfLane() {
  return sql`due_at is not null and queue_class = ${item(0)} and recipient_domain = ${item(1)}
    and project_id = ${item(2)}`
}

function item(index: number) {
  return jsonItem(sql`lane.value`, index)
}
