/**
 * The receiver of an email: its mailbox provider, by the domain of the recipient, else by the first server that the
 * email was offered to, else, while it waits, by the servers that receive for the domain. Analytics counts by the same
 * names. A smarthost is no receiver.
 */
import { providerOf, providerOfDomain } from '../../../formats/address/mailbox-providers.ts'
import { WAITING_STATES } from '../../../records/words.ts'
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { Email } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type NamingDeps, receiverOfDomain } from './receiver-name.ts'

const WAITING: ReadonlySet<string> = new Set(WAITING_STATES)

type AttemptRow = { emailId: string; result: string; host: string | null }

type ReceivedEmail = { recipientDomain: string | null; deliveredAt: number | null }

const listAttempts = statement<AttemptRow>(
  () => sql`select email_id as "emailId", result, host from attempts
    where email_id in ${listOf(parameter('ids'))} and (host is not null or result = 'relayed')
    order by id`,
)

/**
 * Names the receiver. `host`: as `findFirstHosts` finds it. `isRelay`: the server hands all mail to a smarthost now; then
 * the host of mail without a delivery is that of the smarthost.
 */
export function receiverOf(
  { recipientDomain, deliveredAt }: ReceivedEmail,
  { host, isRelay }: { host: string | null | undefined; isRelay: boolean },
): string {
  return providerOf(recipientDomain ?? '', isRelay && deliveredAt === null ? null : host)
}

/**
 * Returns the first server that each email was offered to, by the id of the email. This server is
 * known before the email counts anywhere, and does not change. Null for a smarthost. `ids`: a JSON list.
 */
export async function findFirstHosts(
  reader: Pick<Tx, 'list'>,
  ids: string,
): Promise<Map<string, string | null>> {
  const hosts = new Map<string, string | null>()
  for (const { emailId, result, host } of await reader.list(listAttempts, { ids })) {
    if (result === 'relayed') hosts.set(emailId, null)
    else if (!hosts.has(emailId)) hosts.set(emailId, host)
  }
  return hosts
}

/** Names the receivers of emails, by the id of the email. */
export async function findReceivers(
  deps: Pick<Base, 'store' | 'config'> & NamingDeps,
  emails: readonly (ReceivedEmail & Pick<Email, 'id' | 'state'>)[],
): Promise<Map<string, string>> {
  const isRelay = isRelaying(deps.config)
  const unknown = emails.filter(
    ({ recipientDomain }) => providerOfDomain(recipientDomain ?? '') === undefined,
  )
  const ids = JSON.stringify(unknown.map(({ id }) => id))
  const hosts: ReadonlyMap<string, string | null> =
    unknown.length === 0 ? new Map() : await findFirstHosts(deps.store.read, ids)
  const nameOf = (email: (typeof emails)[number]) => {
    const host = hosts.get(email.id)
    const isUntried = host === undefined && WAITING.has(email.state)
    if (isUntried) return receiverOfDomain(deps, email.recipientDomain ?? '')
    return receiverOf(email, { host, isRelay })
  }
  return new Map(emails.map((email) => [email.id, nameOf(email)]))
}

/** Whether the server hands all mail to a smarthost. */
export function isRelaying({ delivery }: Base['config']): boolean {
  return delivery.mode === 'relay'
}
