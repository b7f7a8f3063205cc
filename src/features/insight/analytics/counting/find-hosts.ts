/**
 * The servers by which the providers of emails are named: of each email the first one that it was offered
 * to, because that one is known before the email counts anywhere, and stays. A smarthost is no receiver.
 */
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

type HostRow = { emailId: string; host: string | null }
type AttemptRow = HostRow & { result: string }

const listAttempts = statement<AttemptRow>(
  () => sql`select email_id as "emailId", result, host from attempts
    where email_id in ${listOf(parameter('ids'))} and (host is not null or result = 'relayed')
    order by id`,
)

/** Of emails that were deleted meanwhile, with their attempts. */
const listDeletedHosts = statement<HostRow>(
  () => sql`select email_id as "emailId", host from deleted_events
    where seq in ${listOf(parameter('seqs'))}`,
)

/** `events`: those of emails. Returns the hosts by the ids of emails. */
export async function findHosts(
  tx: Tx,
  events: readonly CountedEvent[],
): Promise<ReadonlyMap<string, string | null>> {
  const hosts = new Map<string, string | null>()
  if (events.length === 0) return hosts
  const ids = JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
  for (const { emailId, result, host } of await tx.list(listAttempts, { ids })) {
    if (result === 'relayed') hosts.set(emailId, null)
    else if (!hosts.has(emailId)) hosts.set(emailId, host)
  }
  const unknown = events.filter(({ emailId }) => emailId !== null && !hosts.has(emailId))
  if (unknown.length === 0) return hosts
  const seqs = JSON.stringify(unknown.map(({ seq }) => seq))
  for (const { emailId, host } of await tx.list(listDeletedHosts, { seqs })) {
    hosts.set(emailId, host)
  }
  return hosts
}
