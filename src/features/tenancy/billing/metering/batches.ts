/**
 * A batch is a number of emails that are reported to Stripe in one meter event. Its states:
 *
 *   waiting     the batch takes more emails until its first try. Then it is tried with the same identifier
 *               until Stripe answers
 *   settling    23 hours after the first try Stripe may no longer know the identifier, so a batch without
 *               an answer is not tried again. The summaries of the meter tell whether Stripe has counted it
 *   charged     Stripe has counted the batch, and the ids of its emails are deleted
 *   dropped     the batch is not charged; the log has the ids of its emails
 *
 * The timestamp of a batch is the end of a minute. A customer has one batch in a minute, so that the summary
 * of the minute tells of one batch. A customer who sends more than a thousand emails a minute for long has
 * several batches in a minute, which are settled together.
 *
 * The statements move a batch from one state to the next.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { indexedBy, larger } from '../../../../store/dialect.ts'
import { and, eq, getTableColumns, sql } from '../../../../store/drizzle.ts'
import { type MeteringBatch, meteringBatches } from '../../../../store/schema/billing.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { nextMonthOf } from '../../../ground/usage/month.ts'

export const MAX_EMAILS = 1_000

/** How long a batch is tried. Stripe keeps identifiers for at least 24 hours. */
const RETRY_MS = 23 * HOUR_MS
/**
 * How long to wait before batches are settled: Stripe counts events some time after it has taken
 * them.
 */
export const SETTLE_AFTER_MS = HOUR_MS
/** The greatest age of a batch. Stripe takes events of the past 35 days. */
export const MAX_AGE_MS = 35 * DAY_MS

/**
 * How far the timestamp of a batch may be ahead of its emails, so that the batch has a minute of
 * its own.
 */
const MAX_AHEAD_MS = 30 * MINUTE_MS
const LAST_SECOND_MS = MINUTE_MS - SECOND_MS

export const OPEN = sql`state not in ('charged', 'dropped')`
const AT = parameter('at')
const isId = sql`${meteringBatches.id} = ${parameter('id')}`

/**
 * The first wait after a try, and the longest one. A wait is as long as all waits before it
 * together.
 */
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000

/** SQL: no fence holds the batch. Held batches are left alone. */
const isFree = sql`not is_held`

/**
 * SQL: the batch may be tried. If the first try is older, Stripe may have forgotten the identifier.
 */
const mayTry = sql`(first_tried_at is null or first_tried_at > ${AT} - ${RETRY_MS})`

const triedFor = sql`last_tried_at - first_tried_at`
const wait = sql`case when ${triedFor} > ${LONGEST_WAIT_MS} then ${LONGEST_WAIT_MS}
  else ${larger(triedFor, FIRST_WAIT_MS)} end`

export const findAnyOpen = statement<{ found: number }>(
  () => sql`select 1 as found from metering_batches ${indexedBy('metering_batches_open')}
    where ${OPEN} and ${isFree} limit 1`,
)

export const findOpenOfProject = statement<{ found: number }>(
  () => sql`select 1 as found from metering_batches ${indexedBy('metering_batches_open')}
    where project_id = ${parameter('projectId')} and ${OPEN} limit 1`,
)

export const findChargedSince = statement<{ found: number }>(
  () => sql`select 1 as found from metering_batches ${indexedBy('metering_batches_charged')}
    where project_id = ${parameter('projectId')} and state = 'charged'
      and updated_at > ${parameter('after')} limit 1`,
)

/**
 * Lists the batches that may be tried now, because their minute is over and so is the wait since
 * their last try. The first batches of all projects come before the second batch of any.
 */
export const listDueBatches = statement<{ id: string; projectId: string }>(
  () => sql`select id, "projectId" from (
      select id, project_id as "projectId", occurred_at,
        row_number() over (partition by project_id order by occurred_at, id) as place
      from metering_batches ${indexedBy('metering_batches_open')}
      where ${OPEN} and ${isFree} and state = 'waiting' and occurred_at < ${AT} and ${mayTry}
        and (first_tried_at is null or last_tried_at + ${wait} <= ${AT}))
    order by place, occurred_at, id limit ${parameter('limit')}`,
)

const METER = parameter('meter')

/**
 * Records a try before it is made, with its meter. Returns no row if the batch may not be tried any
 * more.
 */
export const beginTry = statement((db) =>
  db
    .update(meteringBatches)
    .set({
      firstTriedAt: sql`coalesce(${meteringBatches.firstTriedAt}, ${AT})`,
      lastTriedAt: AT,
      meter: sql`case when coalesce(${meteringBatches.meter}, ${METER}) = ${METER}
        then ${METER} else '' end`,
      updatedAt: AT,
    })
    .where(and(isId, eq(meteringBatches.state, 'waiting'), isFree, mayTry))
    .returning(),
)

/** Takes back the record of a first try that Stripe did not look at. */
export const forgetTry = statement((db) =>
  db
    .update(meteringBatches)
    .set({ firstTriedAt: null, lastTriedAt: null, meter: null, updatedAt: AT })
    .where(and(isId, eq(meteringBatches.state, 'waiting'))),
)

export const noteError = statement((db) =>
  db
    .update(meteringBatches)
    .set({ error: parameter('error'), updatedAt: AT })
    .where(isId),
)

export const setCharged = statement((db) =>
  db
    .update(meteringBatches)
    .set({ state: 'charged', emailIds: [], error: null, updatedAt: AT })
    .where(isId),
)

/** Ends a batch as dropped, and returns it for the log; no row if the batch has ended already. */
export const setDropped = statement((db) =>
  db
    .update(meteringBatches)
    .set({ state: 'dropped', error: parameter('error'), updatedAt: AT })
    .where(and(isId, OPEN))
    .returning(),
)

/** Gives a batch that Stripe has not counted a new id, so that Stripe takes it for a new batch. */
export const renew = statement((db) =>
  db
    .update(meteringBatches)
    .set({
      id: parameter('newId'),
      state: 'waiting',
      firstTriedAt: null,
      lastTriedAt: null,
      meter: null,
      error: null,
      updatedAt: AT,
    })
    .where(isId),
)

/**
 * Ends the tries of batches without an answer, whose identifiers Stripe may have forgotten; they
 * are settled later.
 */
export const setSettling = statement(
  () => sql`update metering_batches ${indexedBy('metering_batches_open')}
    set state = 'settling', updated_at = ${AT}
    where ${OPEN} and ${isFree} and state = 'waiting' and first_tried_at <= ${AT} - ${RETRY_MS}`,
)

/** Lists batches that were never tried and are too old for Stripe. */
export const listTooOld = statement<{ id: string }>(
  () => sql`select id from metering_batches ${indexedBy('metering_batches_open')}
    where ${OPEN} and ${isFree} and state = 'waiting' and first_tried_at is null
      and occurred_at <= ${AT} - ${MAX_AGE_MS} limit ${parameter('limit')}`,
)

/**
 * Lists customers and minutes with batches to settle whose last try was at `before` or earlier.
 * The minutes that were looked at last come last.
 */
export const listWindows = statement<{ customer: string; startsAt: number }>(
  () => sql`select customer, occurred_at - occurred_at % 60000 as "startsAt"
    from metering_batches ${indexedBy('metering_batches_open')}
    where ${OPEN} and ${isFree} and state = 'settling' and last_tried_at <= ${parameter('before')}
    group by customer, "startsAt"
    order by min(updated_at), "startsAt" limit ${parameter('limit')}`,
)

const isInWindow = sql`${meteringBatches.customer} = ${parameter('customer')}
  and ${meteringBatches.occurredAt} >= ${parameter('startsAt')}
  and ${meteringBatches.occurredAt} < ${parameter('endsAt')}`

/** Moves a minute behind all others that are to be settled. */
export const noteLook = statement((db) =>
  db
    .update(meteringBatches)
    .set({ updatedAt: AT })
    .where(and(isInWindow, eq(meteringBatches.state, 'settling'))),
)

/** A batch without the ids of its emails. */
export type WindowBatch = Omit<MeteringBatch, 'emailIds'>

const { emailIds: _, ...windowColumns } = getTableColumns(meteringBatches)

export const listWindow = statement((db) =>
  db.select(windowColumns).from(meteringBatches).where(isInWindow),
)

/**
 * Returns the timestamp of a new batch whose first email was sent at `at`. `newest`: the timestamp
 * of the customer's newest batch. The result is in the same UTC month as the email, because the
 * month decides about the invoice.
 */
export function timeOf(at: number, newest: number | null): number {
  const own = minuteOf(at)
  const free = newest === null ? own : Math.max(own, minuteOf(newest) + MINUTE_MS)
  const last = Math.min(own + MAX_AHEAD_MS, nextMonthOf(at) - MINUTE_MS)
  return Math.min(free, last) + LAST_SECOND_MS
}

/** Whether an open batch of this timestamp may take an email that was sent at `at`. */
export function mayTake(occurredAt: number, at: number): boolean {
  return at - occurredAt < HOUR_MS && nextMonthOf(at) === nextMonthOf(occurredAt)
}

function minuteOf(at: number): number {
  return at - (at % MINUTE_MS)
}
