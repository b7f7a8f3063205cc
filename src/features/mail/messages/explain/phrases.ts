/** Parts of the sentences about an email: replies of remote servers and their meaning. */
import { formatSecond } from '../../../../base/clock.ts'
import { displayDomain } from '../../../../formats/address/address.ts'
import type { SiteStatus } from '../../../../outbound/sites/site-status.ts'
import { INTERRUPTED } from '../queue/leases.ts'
import type { LastAttempt } from './facts.ts'

const MAX_QUOTED = 400

/** By class of the reply, a sentence on why the last attempt failed. */
const FAILURES: Record<string, (host: string) => string> = {
  greylist: (host) => `${host} asks for another attempt later (greylisting)`,
  throttle: (host) => `${host} is limiting the rate of mail from this server for now`,
  connections: (host) =>
    `${host} is limiting the connections of this server, which opens fewer for some minutes`,
  session: (host) =>
    `${host} is limiting the mail of one session, and gets the rest in another one`,
  too_fast: (host) => `${host} says that the mailbox receives too much mail at once`,
  quota: (host) => `${host} says that the mailbox is full`,
  block: (host) => `${host} refuses mail from the address of this server`,
  network: (host) => `${host} could not be reached, or the connection was lost`,
  dns: (host) => `The mail servers of ${host} could not be looked up in the DNS`,
}

/** Says why the last attempt did not deliver the email: `mx.dest.test said: 451 4.3.2 busy.` */
export function describeFailure(last: LastAttempt, domain: string): string {
  const host = last.host ?? displayDomain(domain)
  const meaning = FAILURES[last.class ?? '']
  const lead =
    meaning?.(host) ?? `${host} ${last.replyCode === null ? 'could not accept the email' : 'said'}`
  return `${lead}: ${describeReplyOrError(last)}.`
}

/** Returns the reply, or the error if there was no reply, on one line without a full stop. */
export function describeReplyOrError({
  replyCode,
  enhancedCode,
  replyText,
  error,
}: Pick<LastAttempt, 'replyCode' | 'enhancedCode' | 'replyText' | 'error'>): string {
  const isReply = replyCode !== null || enhancedCode !== null
  const reply = [replyCode, enhancedCode, replyText].filter((part) => part !== null && part !== '')
  return quote(isReply ? reply.join(' ') : (error ?? 'no reply'))
}

/** Whether the process that made the attempt ended before it recorded the outcome. */
export function isInterrupted({ result }: Pick<LastAttempt, 'result'>): boolean {
  return result === INTERRUPTED.result
}

/** Returns a text of a remote server on one line, shortened, without a full stop. */
export function quote(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')
  const characters = Array.from(line)
  return characters.length <= MAX_QUOTED ? line : `${characters.slice(0, MAX_QUOTED).join('')}…`
}

/** Whether nothing is sent to the site now, or its rate is lowered. */
export function isRestricted({ blockedUntil, messagesPerMinute }: SiteStatus): boolean {
  return blockedUntil !== null || messagesPerMinute !== null
}

/** `Nothing is sent to dest.test until …; it has been in back-off since …: 421 4.7.0 slow down.` */
export function describeBackOff(status: SiteStatus, domain: string): string {
  const { blockedUntil, messagesPerMinute, rateUntil, restrictedSince, cause } = status
  const site = nameSite(status.site, domain)
  const why = cause === null ? '' : `: ${quote(cause.text)}`
  if (blockedUntil !== null) {
    const until = formatSecond(blockedUntil)
    return `Nothing is sent to ${site} until ${until}; it ${describeSince('in back-off', restrictedSince)}${why}.`
  }
  const rate = messagesPerMinute === 1 ? '1 email' : `${messagesPerMinute} emails`
  const until = rateUntil === null ? '' : ` until ${formatSecond(rateUntil)}`
  return `No more than ${rate} a minute may go to ${site}${until}; it ${describeSince('slowed down', restrictedSince)}${why}.`
}

function describeSince(state: string, since: number | null): string {
  return since === null ? `is ${state}` : `has been ${state} since ${formatSecond(since)}`
}

/** Adds the recipient domain: a site is named after its mail servers, which few people know. */
export function nameSite(site: string, domain: string): string {
  const shown = displayDomain(domain)
  return site === domain ? shown : `${site} (the mail servers of ${shown})`
}
