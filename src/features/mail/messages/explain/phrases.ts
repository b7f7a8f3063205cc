/** Parts of the sentences about an email: replies of remote servers and their meaning, sites, steps. */
import { formatSecond } from '../../../../base/clock.ts'
import { displayDomain } from '../../../../formats/address/address.ts'
import type { ReasonDataOf } from '../../../../records/reason.ts'
import { INTERRUPTED } from '../queue/leases.ts'
import { quote } from './quote.ts'

type Last = NonNullable<ReasonDataOf<'retry_scheduled'>['last']>
type Said = Pick<Last, 'reply' | 'error'>
type Step = NonNullable<ReasonDataOf<'sending'>['progress']>

const MAYBE_ACCEPTED = 'The receiver may have accepted the message nevertheless.'
const PROCESS_ENDED = `${INTERRUPTED.error.replace('the', 'The')}.`

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

/**
 * Says why an email is not delivered yet, with a space at the end: `mx.dest.test said: 451 4.3.2 busy. `. Returns '' if
 * no reason is known.
 */
export function describeLast({
  last,
  siteError,
  domain,
}: Pick<ReasonDataOf<'retry_scheduled'>, 'last' | 'siteError' | 'domain'>): string {
  if (last === null) return siteError === null ? '' : `${quote(siteError)}. `
  if (last.interrupted) return `${PROCESS_ENDED} `
  const host = last.host ?? displayDomain(domain)
  const hasReplied = last.reply !== null && last.reply.code !== null
  const lead =
    FAILURES[last.class ?? '']?.(host) ??
    `${host} ${hasReplied ? 'said' : 'could not accept the email'}`
  return `${lead}: ${describeSaid(last)}. ${last.maybeDelivered ? `${MAYBE_ACCEPTED} ` : ''}`
}

/** Returns the reply, or the error if there was no reply, on one line without a full stop. */
export function describeSaid({ reply, error }: Said): string {
  if (reply === null) return quote(error ?? 'no reply')
  const parts = [reply.code, reply.enhancedCode, reply.text]
  return quote(parts.filter((part) => part !== null && part !== '').join(' '))
}

/** `in back-off since 2026-11-21 11:55:00Z`, after `it is` or `it has been`. */
export function describeSince(state: string, since: string | null): string {
  return since === null ? `is ${state}` : `has been ${state} since ${second(since)}`
}

/** `: 421 4.7.0 slow down`, or ''. */
export function describeCause(cause: string | null): string {
  return cause === null ? '' : `: ${quote(cause)}`
}

/** Adds the recipient domain: a site is named after its mail servers, which few people know. */
export function nameSite({ site, domain }: { site: string; domain: string }): string {
  const shown = displayDomain(domain)
  return site === domain ? shown : `${site} (the mail servers of ${shown})`
}

/** `waiting for a free connection to dest.test since 2026-11-21 11:59:00Z` */
export function describeStep({ step, site, host, address, since }: Step, domain: string): string {
  const peer = host === null ? nameSite({ site, domain }) : `${host} [${address}]`
  return `${STEP_PHRASES[step]?.(peer) ?? `${step} at ${peer}`} since ${second(since)}`
}

/** Describes the hold of mail that waits for another reason as well. */
export function describeOtherHold(domain: string | null): string {
  return domain === null ? '' : ` An operator holds all mail to ${displayDomain(domain)}, too.`
}

/** Formats an instant of the API for a sentence: `2026-11-21 11:59:00Z`. */
export function second(instant: string | null): string {
  return instant === null ? 'an unknown time' : formatSecond(Date.parse(instant))
}

/** ` since 2026-11-21 11:59:00Z`, or ''. */
export function sinceThen(instant: string | null): string {
  return instant === null ? '' : ` since ${second(instant)}`
}

/** `1 email`, `25 emails` */
export function counted(count: number | null, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`
}

/** By step of `DeliveryProgress`, the words that describe it. */
const STEP_PHRASES: Record<string, (peer: string) => string> = {
  dns: (peer) => `looking up the mail servers of ${peer} in the DNS`,
  waiting: (peer) => `waiting for a free connection to ${peer}`,
  compose: () => 'composing the message',
  connect: (peer) => `connecting to ${peer}`,
  greeting: (peer) => `connected to ${peer}, waiting for its greeting`,
  ehlo: (peer) => `waiting for ${peer} to answer EHLO`,
  starttls: (peer) => `negotiating TLS with ${peer}`,
  auth: (peer) => `logging in to ${peer}`,
  mail: (peer) => `waiting for ${peer} to answer MAIL FROM`,
  rcpt: (peer) => `waiting for ${peer} to answer RCPT TO`,
  data: (peer) => `waiting for ${peer} to answer DATA`,
  message: (peer) => `sending the message to ${peer}`,
  'final-dot': (peer) => `waiting for ${peer} to confirm the whole message`,
}
