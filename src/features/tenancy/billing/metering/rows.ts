/** The steps of a batch in the database. */
import { indexedBy, larger } from '../../../../store/dialect.ts'
import { and, eq, getTableColumns, sql } from '../../../../store/drizzle.ts'
import { type MeteringBatch, meteringBatches } from '../../../../store/schema/billing.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { MAX_AGE_MS, RETRY_MS } from './batch.ts'

export const OPEN = sql`state not in ('charged', 'dropped')`
const AT = parameter('at')
const isId = sql`${meteringBatches.id} = ${parameter('id')}`

/** The first wait after a try, and the longest; each wait is as long as all before it. */
const FIRST_WAIT_MS = 60_000
const LONGEST_WAIT_MS = 3_600_000

/** A fence holds all other batches, which are left alone. */
const isFree = sql`not is_held`

/** Stripe may have forgotten the identifier of a batch whose first try is older. */
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
 * Batches that may be tried now: their minute is over, and so is the wait since their last try. The first
 * of each project come before the second of any.
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

/** Marks a try before it is made, with its meter. No row if the batch may not be tried any more. */
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

/** Takes back a first try that Stripe did not look at. */
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

/** Returns the batch, for the log; no row if it has ended already. */
export const setDropped = statement((db) =>
  db
    .update(meteringBatches)
    .set({ state: 'dropped', error: parameter('error'), updatedAt: AT })
    .where(and(isId, OPEN))
    .returning(),
)

/**
 * Renews a batch that Stripe has not counted: under the new id, Stripe takes it for a new batch.
 */
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

/** Lets batches settle that have no answer and whose identifier Stripe may have forgotten. */
export const setSettling = statement(
  () => sql`update metering_batches ${indexedBy('metering_batches_open')}
    set state = 'settling', updated_at = ${AT}
    where ${OPEN} and ${isFree} and state = 'waiting' and first_tried_at <= ${AT} - ${RETRY_MS}`,
)

/** Batches that were never tried and are too old for Stripe. */
export const listTooOld = statement<{ id: string }>(
  () => sql`select id from metering_batches ${indexedBy('metering_batches_open')}
    where ${OPEN} and ${isFree} and state = 'waiting' and first_tried_at is null
      and occurred_at <= ${AT} - ${MAX_AGE_MS} limit ${parameter('limit')}`,
)

/**
 * The customers and minutes of batches to settle whose last try was at `before` or earlier. The
 * minutes that were looked at last come last.
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

/** Puts a minute behind all others that are to be settled. */
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
