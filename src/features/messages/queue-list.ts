/**
 * Looking at the queue, on the reader threads. What is on its way is found through the three
 * partial indexes of `emails`, by terms that SQLite can compare with theirs: literal ones. They are
 * named, for an order by row number tempts it to read the table instead.
 */
import { and, eq, type SQL, sql } from '../../store/drizzle.ts'
import { type Email, emails, type QueueState } from '../../store/schema.ts'
import type { Core } from '../core.ts'

export type QueueFilter = {
  state?: QueueState | undefined
  /** Recipient domain, A-label. */
  domain?: string | undefined
  /** Sender domain, as in the From address. */
  senderDomain?: string | undefined
  limit?: number | undefined
}

export type QueuedEmail = Pick<
  Email,
  | 'id'
  | 'recipient'
  | 'fromAddress'
  | 'subject'
  | 'state'
  | 'status'
  | 'dueAt'
  | 'retryAt'
  | 'attemptCount'
>

export const queueStates: readonly QueueState[] = [
  'queued',
  'deferred',
  'held',
  'sending',
  'delivered',
  'relayed',
  'bounced',
  'failed',
  'suppressed',
]

type Part = { index: string; term: string }

const WAITING: Part = {
  index: 'emails_ready',
  term: 'due_at is not null and queue_class in (1, 5, 10)',
}
const SENDING: Part = { index: 'emails_leased', term: 'lease_until is not null' }
const HELD: Part = { index: 'emails_held', term: "state = 'held'" }
const onTheWay: Partial<Record<QueueState, Part>> = {
  queued: WAITING,
  deferred: WAITING,
  sending: SENDING,
  held: HELD,
}

/** What has ended has no index: looked through in pages, and no further back than that. */
const PAGE = 20_000
const MAX_LOOKED_THROUGH = 1_000_000

type Deps = Pick<Core, 'store'>

/**
 * Newest first; without a state, what is still on its way. Of a state in which emails end, those
 * among the newest million.
 */
export async function listQueue(deps: Deps, filter: QueueFilter): Promise<QueuedEmail[]> {
  const isEnd = filter.state !== undefined && onTheWay[filter.state] === undefined
  return isEnd ? listEnded(deps, filter) : listRows(deps, queueCondition(filter), limitOf(filter))
}

async function listEnded({ store }: Deps, filter: QueueFilter): Promise<QueuedEmail[]> {
  const found: QueuedEmail[] = []
  const [newest] = await store.scan.all<{ number: number | null }>(newestNumber())
  let before = (newest?.number ?? 0) + 1
  const end = Math.max(0, before - MAX_LOOKED_THROUGH)
  while (before > end && found.length < limitOf(filter)) {
    const page = and(wanted(filter), isNumbered({ from: before - PAGE, before }))
    found.push(...(await listRows({ store }, page, limitOf(filter) - found.length)))
    before -= PAGE
  }
  return found
}

function listRows(
  { store }: Deps,
  condition: SQL | undefined,
  limit: number,
): Promise<QueuedEmail[]> {
  const { id, recipient, fromAddress, subject, state, status, dueAt, retryAt, attemptCount } =
    emails
  return store.scan
    .select({ id, recipient, fromAddress, subject, state, status, dueAt, retryAt, attemptCount })
    .from(emails)
    .where(condition)
    .orderBy(sql`rowid desc`)
    .limit(limit)
    .all()
}

/** Rows are numbered in the order of their acceptance. */
export function newestNumber(): SQL {
  return sql`select max(rowid) as number from emails`
}

export function isNumbered({ from, before }: { from: number; before: number }): SQL {
  return sql`rowid >= ${from} and rowid < ${before}`
}

/** The condition of what is on its way, in one of its states or in any. */
export function queueCondition(filter: QueueFilter): SQL {
  const known = filter.state === undefined ? undefined : onTheWay[filter.state]
  const parts = known === undefined ? [WAITING, SENDING, HELD] : [known]
  const rows = parts.map(
    ({ index, term }) => sql`select rowid as number from emails indexed by ${sql.raw(index)}
      where ${and(sql.raw(term), wanted(filter))}`,
  )
  return sql`rowid in (select number from (${sql.join(rows, sql` union all `)})
    order by number desc limit ${limitOf(filter)})`
}

function wanted({ state, domain, senderDomain }: QueueFilter): SQL | undefined {
  const sender = `@${senderDomain}`
  return and(
    state === undefined ? undefined : eq(emails.state, state),
    domain === undefined ? undefined : eq(emails.recipientDomain, domain),
    senderDomain === undefined
      ? undefined
      : sql`substr(${emails.fromAddress}, ${-Array.from(sender).length}) = ${sender}`,
  )
}

function limitOf({ limit = 1_000 }: QueueFilter): number {
  return limit
}

/** How many emails stand in each state on the way. */
export async function countQueue({ store }: Deps): Promise<{ state: QueueState; count: number }[]> {
  const counts = await store.scan.get<Record<string, number>>(queueCounts())
  return queueStates.flatMap((state) => {
    const count = counts[state] ?? 0
    return count === 0 ? [] : [{ state, count }]
  })
}

/** When the email that could have been tried first became due; undefined when none is due. */
export async function findOldestDue({
  store,
  now,
}: Pick<Core, 'store' | 'now'>): Promise<number | undefined> {
  const { dueAt } = await store.scan.get<{ dueAt: number | null }>(oldestDue(now()))
  return dueAt ?? undefined
}

export function oldestDue(at: number): SQL {
  return sql`select min(due_at) as dueAt from emails where due_at is not null and due_at <= ${at}`
}

export function queueCounts(): SQL {
  return sql`select * from
    (select count(*) filter (where state = 'queued') as queued,
      count(*) filter (where state = 'deferred') as deferred
      from emails where due_at is not null),
    (select count(*) as sending from emails where lease_until is not null),
    (select count(*) as held from emails where state = 'held')`
}
