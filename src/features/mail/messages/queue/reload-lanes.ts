/** Reads the lanes of the whole queue, page by page; one run at a time. */
import { min, sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Store } from '../../../../store/store.ts'
import { runFor, SYSTEM } from '../../../../turns/owner.ts'
import type { Lanes } from './lanes.ts'
import type { QueueLane } from './notifier.ts'

const PAGE = 1_000

const listLanes = statement((db) =>
  db
    .select({
      queueClass: emails.queueClass,
      domain: emails.recipientDomain,
      projectId: emails.projectId,
      dueAt: min(emails.dueAt),
    })
    .from(emails)
    .where(
      sql`due_at is not null and (queue_class, recipient_domain, project_id) >
        (${parameter('queueClass')}, ${parameter('domain')}, ${parameter('projectId')})`,
    )
    .groupBy(emails.queueClass, emails.recipientDomain, emails.projectId)
    .limit(PAGE),
)

type LanePosition = Omit<QueueLane, 'queueClass'> & { queueClass: number }

/** A call during a run starts one more run after it, and resolves with that one. */
export function createReload(store: Store, lanes: Lanes): () => Promise<void> {
  const read = () => runFor(SYSTEM, () => readLanes(store, lanes))
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  return function reload() {
    if (running === undefined) {
      running = read().finally(() => {
        running = undefined
      })
      return running
    }
    next ??= running.then(
      () => follow(),
      () => follow(),
    )
    return next
  }
  function follow(): Promise<void> {
    next = undefined
    running = read().finally(() => {
      running = undefined
    })
    return running
  }
}

async function readLanes(store: Store, lanes: Lanes): Promise<void> {
  let position: LanePosition = { queueClass: 0, domain: '', projectId: '' }
  for (;;) {
    const page = await store.scan.list(listLanes, position)
    for (const { dueAt, ...lane } of page) if (dueAt !== null) lanes.addDueAt(lane, dueAt)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    position = last
  }
}
