/** The condition that an email has a receiver, for SQL; `receivers/email-receivers.ts` has the same rule for single emails. */
import {
  domainsOfProvider,
  hostsOfProvider,
  OTHER_PROVIDER,
  PROVIDER_DOMAINS,
  PROVIDER_HOSTS,
} from '../../../formats/address/mailbox-providers.ts'
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

/**
 * `isRelay`: as in `receivers/email-receivers.ts`. The statement has the email as `email`, with its id, `recipient_domain` and
 * `delivered_at`. The server is looked up only for recipients at domains of no provider.
 */
export function isOfReceiver(receiver: string, isRelay: boolean): SQL {
  // The server of such mail is a smarthost, which is no receiver.
  const isHidden = isRelay ? sql`(email.delivered_at is null or ${isRelayed})` : isRelayed
  if (receiver === OTHER_PROVIDER) {
    return sql`(${isOfNoDomain} and (${hostOfProvider} is null or ${isHidden}))`
  }
  const hosts = hostsOfProvider(receiver)
  const isOfDomain = sql`email.recipient_domain in ${listOf(domainsOfProvider(receiver))}`
  if (hosts.length === 0) return isOfDomain
  return sql`(${isOfDomain}
    or ${isOfNoDomain} and ${hostOfProvider} in ${listOf(hosts)} and not ${isHidden})`
}
