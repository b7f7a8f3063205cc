/** Makes mail due at once when an operator has lifted the back-off of its site. */
import { QUEUE_CLASSES } from '../../../../base/queue-class.ts'
import { eachOf, listOf } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import type { Base } from '../../../ground/base.ts'
import { ANY_CLASS } from './any-class.ts'
import { inBatches, QUEUE_BATCH_ROWS } from './in-batches.ts'
import type { QueueNotifier } from './notifier.ts'

const MAX_DOMAINS = 10_000

/** The recipient domains (A-labels) of waiting mail, found by seeks in the index. */
export async function listWaitingDomains({ store }: Pick<Base, 'store'>): Promise<string[]> {
  const rows = await store.scan.all<{ domain: string }>(waitingDomains())
  return rows.map(({ domain }) => domain)
}

/** The number of emails to these domains that wait, due or not. */
export async function countWaiting(
  { store }: Pick<Base, 'store'>,
  domains: readonly string[],
): Promise<number> {
  const { count } = await store.scan.get<{ count: number }>(waitingCount(domains))
  return count
}

/** Makes all waiting mail to these domains due at once. */
export async function bringForward(
  { store, queueNotifier, now }: Pick<Base, 'store' | 'now'> & { queueNotifier: QueueNotifier },
  domains: readonly string[],
): Promise<void> {
  let total = 0
  for (const domain of domains) {
    total += await inBatches(store, (tx) => {
      const at = now()
      return tx
        .update(emails)
        .set({ dueAt: at, updatedAt: at })
        .where(sql`${emails.id} in ${laterIds(domain, at)}`)
    })
  }
  if (total > 0) queueNotifier.notify('anywhere')
}

export function waitingDomains(): SQL {
  return sql`with recursive waiting (class, domain) as (
      select value, (select min(recipient_domain) from emails
        where due_at is not null and queue_class = value) from ${eachOf(QUEUE_CLASSES)}
      union all
      select class, (select min(recipient_domain) from emails
        where due_at is not null and queue_class = waiting.class
          and recipient_domain > waiting.domain)
      from waiting where domain is not null
    )
    select distinct domain from waiting where domain is not null limit ${MAX_DOMAINS}`
}

export function waitingCount(domains: readonly string[]): SQL {
  return sql`select count(*) as count from emails where due_at is not null
    and ${ANY_CLASS}
    and recipient_domain in ${listOf(domains)}`
}

export function laterIds(domain: string, at: number): SQL {
  return sql`(select id from emails where due_at is not null and ${ANY_CLASS}
    and recipient_domain = ${domain} and due_at > ${at} limit ${QUEUE_BATCH_ROWS})`
}
