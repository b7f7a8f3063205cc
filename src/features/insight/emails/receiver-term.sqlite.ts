/** The condition that an email has a receiver, for SQL; `receivers/email-receivers.ts` has the same rule for single emails. */
import {
  domainsOfProvider,
  hostsOfProvider,
  OTHER_PROVIDER,
  PROVIDER_DOMAINS,
  PROVIDER_HOSTS,
} from '../../../formats/address/mailbox-providers.ts'
import { WAITING_STATES } from '../../../records/words.ts'
import { listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'

const isOfNoDomain = sql`email.recipient_domain not in ${listOf(PROVIDER_DOMAINS)}`

const isRelayed = sql`exists (select 1 from attempts
  where attempts.email_id = email.id and result = 'relayed')`

/**
 * The host of a provider that the first server of the email is, or is below: the name of the server loses its first
 * label until it is one. Null if the server belongs to no provider.
 */
const hostOfProvider = sql`(with recursive place (name) as (
    select lower(host) from (select host from attempts
      where attempts.email_id = email.id and host is not null order by attempts.id limit 1) as first
    union all
    select substr(name, instr(name, '.') + 1) from place where instr(name, '.') > 0
  ) select name from place where name in ${listOf(PROVIDER_HOSTS)} limit 1)`

/** Whether the email waits and was offered to no server yet. */
const isUntried = sql`(email.state in ${listOf(WAITING_STATES)} and not exists (select 1 from attempts
  where attempts.email_id = email.id and (host is not null or result = 'relayed')))`

/** `named`: the domains whose untried mail has another receiver than `Other`, with its name (`receivers/receiver-name.ts`). */
export type ReceiverNames = { isRelay: boolean; named: ReadonlyMap<string, string> }

/**
 * `isRelay`: as in `receivers/email-receivers.ts`. The statement has the email as `email`, with its id, `state`,
 * `recipient_domain` and `delivered_at`. The server is looked up only for recipients at domains of no provider.
 */
export function isOfReceiver(receiver: string, { isRelay, named }: ReceiverNames): SQL {
  // The server of such mail is a smarthost, which is no receiver.
  const isHidden = isRelay ? sql`(email.delivered_at is null or ${isRelayed})` : isRelayed
  if (receiver === OTHER_PROVIDER) {
    const isOther = sql`${isOfNoDomain} and (${hostOfProvider} is null or ${isHidden})`
    if (named.size === 0) return sql`(${isOther})`
    return sql`(${isOther} and not (${isIn([...named.keys()])} and ${isUntried}))`
  }
  const hosts = hostsOfProvider(receiver)
  const isOfDomain = isIn(domainsOfProvider(receiver))
  if (hosts.length === 0) return isOfDomain
  const untried = [...named].filter(([, name]) => name === receiver).map(([domain]) => domain)
  const isNext = untried.length === 0 ? sql`` : sql` or ${isIn(untried)} and ${isUntried}`
  return sql`(${isOfDomain}
    or ${isOfNoDomain} and ${hostOfProvider} in ${listOf(hosts)} and not ${isHidden}${isNext})`
}

function isIn(domains: readonly string[]): SQL {
  return sql`email.recipient_domain in ${listOf(domains)}`
}
