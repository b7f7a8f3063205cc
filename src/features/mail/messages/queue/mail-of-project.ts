/**
 * How much mail of one project waits, by lane, and for held domains. No index begins with the project
 * and has the domain, so the lanes in memory say where to look: each is a range of the index
 * `emails_ready`, which has all that is counted.
 */
import type { QueueClass } from '../../../../base/queue-class.ts'
import { eachOf, indexedBy, jsonItem, orderedJoin, rowNumber } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { isParked, onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import type { QueueLane } from './notifier.ts'

/** The emails that one count reads: in the index of mail that waits, and rows of held mail. */
export const MAX_COUNTED_WAITING = 200_000
export const MAX_HELD_COUNTED = 50_000

/** The deferred emails of a lane that `listDeferredOf` returns. */
const DEFERRED_EACH = 5

type LaneCount = {
  queueClass: QueueClass
  domain: string
  waiting: number
  deferred: number
  /** Epoch ms. */
  oldestDueAt: number
}

/** The lanes of the parameter `lanes`, which `lanesToJson` makes. */
export const eachLane = sql`${eachOf(parameter('lanes'))} as lane`

/** Whether an email waits in the lane of `lane.value`, which is a class and a domain. */
export const inLanes = sql`emails.due_at is not null
  and emails.queue_class = ${jsonItem(sql`lane.value`, 0)}
  and emails.recipient_domain = ${jsonItem(sql`lane.value`, 1)}
  and emails.project_id = ${parameter('projectId')}`

export const countLanes = statement<LaneCount>(
  () => sql`select queue_class as "queueClass", domain, count(*) as waiting,
      count(*) filter (where state = 'deferred') as deferred, min(due_at) as "oldestDueAt"
    from (select emails.queue_class, emails.recipient_domain as domain, emails.state, emails.due_at
      from ${eachLane}
      ${orderedJoin()} emails ${indexedBy('emails_ready')} on ${inLanes}
      limit ${sql.raw(String(MAX_COUNTED_WAITING))})
    group by queue_class, domain`,
)

export const countHeld = statement<{ domain: string; held: number }>(
  () => sql`select domain, count(*) as held
    from (select recipient_domain as domain from emails ${indexedBy('emails_parked')}
      where project_id = ${parameter('projectId')} and ${isParked} and ${onShelves('held')}
      limit ${sql.raw(String(MAX_HELD_COUNTED))})
    group by domain`,
)

/** Those that are due last come first: they were tried last. */
export const listDeferred = statement<{ id: string; domain: string }>(
  () => sql`select found.id, found.recipient_domain as domain
    from ${eachLane}
    ${orderedJoin()} emails as found on ${rowNumber('found')} in (
      select ${rowNumber('emails')} from emails ${indexedBy('emails_ready')}
      where ${inLanes} and emails.state = 'deferred'
      order by emails.due_at desc limit ${sql.raw(String(DEFERRED_EACH))})`,
)

type Lane = Pick<QueueLane, 'queueClass' | 'domain'>
type Deps = Pick<Base, 'store'>

/**
 * Counts the mail in these lanes of a project, lane after lane, up to `MAX_COUNTED_WAITING` emails in all. Lanes
 * without mail are left out.
 */
export function countLanesOf(
  { store }: Deps,
  projectId: string,
  lanes: readonly Lane[],
): Promise<LaneCount[]> {
  return store.scan.list(countLanes, { projectId, lanes: lanesToJson(lanes) })
}

/** Counts the held mail of a project by domain (A-labels), up to `MAX_HELD_COUNTED` emails in all. */
export async function countHeldOf(
  { store }: Deps,
  projectId: string,
): Promise<{ domain: string; held: number }[]> {
  return store.scan.list(countHeld, { projectId })
}

/** Lists a few deferred emails of each of these lanes of a project. */
export function listDeferredOf(
  { store }: Deps,
  projectId: string,
  lanes: readonly Lane[],
): Promise<{ id: string; domain: string }[]> {
  return store.scan.list(listDeferred, { projectId, lanes: lanesToJson(lanes) })
}

export function lanesToJson(lanes: readonly Lane[]): string {
  return JSON.stringify(lanes.map(({ queueClass, domain }) => [queueClass, domain]))
}
