/**
 * Mail that waits: its number by domain, the age of the oldest due email, and the projects with mail that nobody
 * claims. The counts are read page by page, because a queue may have a hundred thousand domains and only the server's
 * memory knows their sites.
 */
import { setImmediate as loopTurn } from 'node:timers/promises'
import type { QueueClass } from '../../../../base/queue-class.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { isParked, isPaused, onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { oldestDue } from './oldest-due.sqlite.ts'

const PAGE = 1_000

/** The number of emails to a domain. `dueAt`: the earliest due time among these. */
type DomainCount = {
  queueClass: QueueClass
  domain: string
  queued: number
  deferred: number
  dueAt: number
}

export type ParkedCounts = { sending: number; held: number; paused: number }

const listDomainCounts = statement<DomainCount>(
  () => sql`select queue_class as "queueClass", recipient_domain as domain,
      count(*) filter (where state <> 'deferred') as queued,
      count(*) filter (where state = 'deferred') as deferred, min(due_at) as "dueAt"
    from emails ${indexedBy('emails_ready')}
    where due_at is not null
      and (queue_class, recipient_domain) > (${parameter('queueClass')}, ${parameter('domain')})
    group by queue_class, recipient_domain order by queue_class, recipient_domain limit ${PAGE}`,
)

export const countParked = statement<ParkedCounts>(
  () => sql`select * from
    (select count(*) as sending from emails where lease_until is not null),
    (select count(*) as held from emails where ${onShelves('held')}),
    (select count(*) as paused from emails ${indexedBy('emails_parked')} where ${isPausedOfAny()})`,
)

type Deps = Pick<Base, 'store' | 'outbound' | 'now'>

/**
 * Calls `add` with the counts of each domain. Other work of the event loop runs between the pages.
 */
export async function countWaitingByDomain(
  { store }: Pick<Base, 'store'>,
  add: (count: DomainCount) => void,
): Promise<void> {
  let after: { queueClass: number; domain: string } = { queueClass: 0, domain: '' }
  for (;;) {
    const page = await store.scan.list(listDomainCounts, after)
    for (const count of page) add(count)
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = { queueClass: last.queueClass, domain: last.domain }
    await loopTurn()
  }
}

/**
 * Finds when the oldest due email became due; undefined when none is due. Emails whose site is
 * restricted now do not count. `until`: less urgent classes do not count either; if absent, all
 * classes count.
 */
export async function findOldestDue(
  { store, outbound, now }: Deps,
  until?: QueueClass,
): Promise<number | undefined> {
  const rows = await store.scan.all<{ domain: string; dueAt: number }>(oldestDue(now(), until))
  const isOpen = (domain: string) => outbound.restrictionOf(outbound.siteOf(domain)) === null
  return rows.find(({ domain }) => isOpen(domain))?.dueAt
}

/**
 * The ids of the projects with mail that nobody claims, found by a seek for each project, so that the shelves of each
 * can be sought in `emails_parked`. To read all of the index would look at every email that an operator holds.
 */
export function parkedProjects(): SQL {
  return sql`with recursive parked (id) as (
      select min(project_id) from emails ${indexedBy('emails_parked')} where ${isParked}
      union all
      select (select min(project_id) from emails ${indexedBy('emails_parked')}
        where ${isParked} and project_id > parked.id)
      from parked where parked.id is not null
    )
    select id from parked where id is not null`
}

/**
 * The condition for mail of any project that was put aside. The statement must name the index
 * `emails_parked`.
 */
export function isPausedOfAny(): SQL {
  return sql`project_id in (${parkedProjects()}) and ${isParked} and ${isPaused}`
}
