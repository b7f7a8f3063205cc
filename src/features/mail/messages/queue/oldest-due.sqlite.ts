/** Finds the domains whose mail is due the longest. */
import { CAMPAIGN_CLASS, type QueueClass } from '../../../../base/queue-class.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'

const MAX_DOMAINS = 10_000

/**
 * Domains with due mail, the one that has waited longest first. The query seeks once for each lane in
 * the index: to the next lane of the domain, else the next domain, else the next class. A long
 * backlog in few lanes is therefore cheap. `until`: the least urgent class that counts.
 */
export function oldestDue(at: number, until: QueueClass = CAMPAIGN_CLASS): SQL {
  const first = sql`select json_array(queue_class, recipient_domain, project_id, due_at)
    from emails where due_at is not null`
  return sql`with recursive lane (it) as (
      select json_array(0, '', '', 0)
      union all
      select coalesce(
        (${first} and queue_class = it ->> 0 and recipient_domain = it ->> 1
          and project_id > it ->> 2 order by project_id, due_at limit 1),
        (${first} and queue_class = it ->> 0 and recipient_domain > it ->> 1
          order by recipient_domain, project_id, due_at limit 1),
        (${first} and queue_class > it ->> 0
          and queue_class <= ${until} order by queue_class, recipient_domain, project_id, due_at limit 1))
      from lane where it is not null
    )
    select it ->> 1 as domain, min(it ->> 3) as "dueAt" from lane
    where it ->> 0 > 0 and it ->> 3 <= ${at}
    group by domain order by "dueAt" limit ${MAX_DOMAINS}`
}
