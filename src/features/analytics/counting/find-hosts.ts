/** The servers that took or refused emails, by which their providers are named. */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { CountedEvent } from '../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

type HostRow = { emailId: string; host: string | null }

/** Of each email the first attempt that ended it comes first. A smarthost is not the receiver. */
const listHosts = statement<HostRow>(
  () => sql`select email_id as "emailId", case result when 'relayed' then null else host end as host
    from attempts
    where email_id in ${listOf(parameter('ids'))} and result in ('delivered', 'relayed', 'bounced')
    order by id`,
)

/** Of emails that were deleted meanwhile, with their attempts. */
const listDeletedHosts = statement<HostRow>(
  () => sql`select email_id as "emailId", host from deleted_events
    where seq in ${listOf(parameter('seqs'))} and host is not null`,
)

/** `events`: those of emails. Returns the hosts by the ids of emails. */
export async function findHosts(
  tx: Tx,
  events: readonly CountedEvent[],
): Promise<ReadonlyMap<string, string | null>> {
  const hosts = new Map<string, string | null>()
  if (events.length === 0) return hosts
  const ids = JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
  const add = ({ emailId, host }: HostRow) => {
    if (!hosts.has(emailId)) hosts.set(emailId, host)
  }
  for (const row of await tx.list(listHosts, { ids })) add(row)
  const deleted = events.filter(({ emailId }) => emailId !== null && !hosts.has(emailId))
  if (deleted.length === 0) return hosts
  const seqs = JSON.stringify(deleted.map(({ seq }) => seq))
  for (const row of await tx.list(listDeletedHosts, { seqs })) add(row)
  return hosts
}
