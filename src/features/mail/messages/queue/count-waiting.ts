/**
 * Counts mail on its way for `/metrics`. Waiting mail is counted by class and recipient domain in pages of an
 * index on the scan threads, because a queue may have a hundred thousand domains and only the server's memory
 * knows their sites.
 */
import { setImmediate as loopTurn } from 'node:timers/promises'
import type { QueueClass } from '../../../../base/queue-class.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { isPausedOfAny } from '../parked-projects.ts'

const PAGE = 1_000

/** `dueAt`: of the email that is due first. */
export type DomainCount = {
  queueClass: QueueClass
  domain: string
  queued: number
  deferred: number
  dueAt: number
}

export type ParkedCounts = { sending: number; held: number; paused: number }

export const listDomainCounts = statement<DomainCount>(
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

/** Calls `add` with the counts of each domain. The event loop turns between the pages. */
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
