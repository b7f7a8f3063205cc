/** Explains mail in the queue and in flight; `explain.ts` has the order of the reasons. */
import { formatSecond } from '../../../../base/clock.ts'
import { displayDomain } from '../../../../formats/address/address.ts'
import type { DeliveryProgress, SiteStatus } from '../../../../outbound/sites/site-status.ts'
import { INTERRUPTED } from '../queue/leases.ts'
import type { EmailFacts, Explanation } from './facts.ts'
import type { LiveSite } from './live-status.ts'
import {
  describeBackOff,
  describeFailure,
  describeReplyOrError,
  isInterrupted,
  isRestricted,
  nameSite,
  quote,
} from './phrases.ts'

const MAYBE_ACCEPTED = 'The receiver may have accepted the message nevertheless.'
const PROCESS_ENDED = `${INTERRUPTED.error.replace('the', 'The')}.`

type Sentence = Omit<Explanation, 'nextAttemptAt'>

export function explainHeld({ email, hold, isCampaignPaused }: EmailFacts): Sentence {
  const { recipientDomain, heldAt } = email
  const at = heldAt ?? hold?.heldAt
  const since = at === undefined ? '' : ` since ${formatSecond(at)}`
  const domain = displayDomain(recipientDomain)
  if (hold === null) {
    const next = isCampaignPaused
      ? 'it waits until its paused campaign is resumed'
      : 'it is due within a minute'
    return withoutCommand(`It was held${since}; mail to ${domain} is released, and ${next}.`)
  }
  const pause = isCampaignPaused ? ' Its campaign is paused, too, and must be resumed.' : ''
  const reason = `It has been held${since}: an operator holds all mail to ${domain}.${pause}`
  return { reason, command: ['queue', 'release', '--domain', domain] }
}

export function explainPaused(facts: EmailFacts): Sentence {
  const { email, hold, isCampaignPaused, pace, isSenderVerified, projectHold } = facts
  const since = email.heldAt === null ? '' : ` since ${formatSecond(email.heldAt)}`
  if (facts.fencedSince !== null) return explainFence(facts, facts.fencedSince)
  if (projectHold !== null) return explainProjectHold(facts, projectHold)
  const held = describeOtherHold(hold)
  if (pace !== null) {
    const most = pace === 1 ? '1 email' : `${pace} emails`
    return withoutCommand(
      `It waits for its turn: its campaign sends at most ${most} an hour (maxPerHour).${held}`,
    )
  }
  if (!isCampaignPaused) {
    if (!facts.isOfCampaign) {
      return withoutCommand(`It has been held${since}, and is due within a minute.${held}`)
    }
    const until = isSenderVerified
      ? 'and is due within a minute'
      : 'and waits until the sender domain is verified again'
    return withoutCommand(`It has been paused${since}, ${until}.${held}`)
  }
  const first = isSenderVerified ? '' : ' The sender domain must be verified again before that.'
  return withoutCommand(
    `It has been paused by its campaign${since}, and waits until it is resumed.${first}${held}`,
  )
}

/** Also explains mail that is still in the queue, which is put aside when it is due, or before. */
function explainProjectHold(
  { email, hold, isOfCampaign }: EmailFacts,
  { since, until }: NonNullable<EmailFacts['projectHold']>,
): Sentence {
  const resume = isOfCampaign ? ' Its campaign must be resumed after that.' : ''
  const end = until === null ? '' : `, or fails at ${formatSecond(until)}`
  const reason = `It is held: its project was disabled for its reputation at ${formatSecond(since)}. It waits until the project is enabled${end}.${resume}${describeOtherHold(hold)}`
  return { reason, command: ['project', 'update', email.projectId, '--enable'] }
}

/** Also explains mail that is still in the queue, which is put aside when it is due, or before. */
function explainFence({ email, hold }: EmailFacts, since: number): Sentence {
  const reason = `It is held since the database was brought back from a copy or lost its log, at ${formatSecond(since)}: it may have been sent meanwhile. It waits until an operator releases its project.${describeOtherHold(hold)}`
  return { reason, command: ['queue', 'release', '--restored', '--project', email.projectId] }
}

/** Describes the hold of mail that waits for another reason as well. */
function describeOtherHold(hold: EmailFacts['hold']): string {
  return hold === null ? '' : ` An operator holds all mail to ${displayDomain(hold.domain)}, too.`
}

export function explainWaiting(facts: EmailFacts): Explanation {
  const { email, hold, live, now, projectHold, fencedSince } = facts
  if (fencedSince !== null) return { ...explainFence(facts, fencedSince), nextAttemptAt: null }
  if (hold !== null) return { ...explainHeld(facts), nextAttemptAt: null }
  if (projectHold !== null) {
    return { ...explainProjectHold(facts, projectHold), nextAttemptAt: null }
  }
  const ownAt = email.dueAt ?? now
  if (live.server === 'none') return { ...explainStopped(facts), nextAttemptAt: ownAt }
  const site = live.server === 'running' ? live.sites[email.recipientDomain] : undefined
  const status = site?.status ?? null
  const nextAttemptAt = Math.max(ownAt, status?.blockedUntil ?? 0)
  if (status !== null && isRestricted(status)) {
    return { ...explainBackOff(facts, { status, nextAttemptAt }), nextAttemptAt }
  }
  if (ownAt > now) return { ...explainRetry(facts), nextAttemptAt }
  return { ...explainDue(facts, site), nextAttemptAt }
}

function explainStopped({ email, last, now }: EmailFacts): Sentence {
  const dueAt = email.dueAt ?? now
  const when = dueAt <= now ? 'It is due now' : `The next attempt is at ${formatSecond(dueAt)}`
  const reason = `${describeLast(email, last)} ${when}, but no server is running.`.trim()
  return { reason, command: ['serve'] }
}

/**
 * The reason of the site comes first, followed by the email's own reason unless both are the same.
 */
function explainBackOff(
  { email, last, now }: EmailFacts,
  { status, nextAttemptAt }: { status: SiteStatus; nextAttemptAt: number },
): Sentence {
  const own = isReasonOfSite({ email, last }, status) ? '' : ` ${describeLast(email, last)}`
  const next =
    nextAttemptAt > now
      ? `The next attempt is at ${formatSecond(nextAttemptAt)}.`
      : 'It is due and waits until the rate allows it.'
  return {
    reason: `${describeBackOff(status, email.recipientDomain)}${own.trimEnd()} ${next}`,
    command: ['queue', 'sites', '--lift', status.site],
  }
}

/**
 * Whether the email's own reason is that of its site: an untried email stores the reason of its
 * site, which may be a reply to another email.
 */
function isReasonOfSite(
  { email, last }: Pick<EmailFacts, 'email' | 'last'>,
  { cause }: SiteStatus,
) {
  if (cause === null) return false
  if (last !== null) return quote(cause.text) === describeReplyOrError(last)
  return email.error?.endsWith(cause.text) === true
}

/** Says why the email is not delivered yet; '' if no reason is known. */
function describeLast(email: EmailFacts['email'], last: EmailFacts['last']): string {
  if (last === null) return describeUntried(email)
  if (isInterrupted(last)) return PROCESS_ENDED
  const failure = describeFailure(last, email.recipientDomain)
  return last.isMaybeDelivered ? `${failure} ${MAYBE_ACCEPTED}` : failure
}

function explainRetry({ email, last, obstacle, now }: EmailFacts): Sentence {
  const at = formatSecond(email.dueAt ?? now)
  if (obstacle !== null) {
    const end = `It will end at ${at} without another attempt: ${obstacle}.`
    return withoutCommand(`${describeLast(email, last)} ${end}`.trim())
  }
  const reason = `${describeLast(email, last)} The next attempt is at ${at}.`.trim()
  return { reason, command: ['queue', 'retry', email.id] }
}

/**
 * Explains mail without a recorded attempt: the reason of its site, or a lease that ended because
 * its process ended.
 */
function describeUntried({ state, error }: EmailFacts['email']): string {
  if (error !== null) return `${quote(error)}.`
  if (state !== 'deferred') return ''
  return PROCESS_ENDED
}

/** Explains mail that is due and not claimed yet. */
function explainDue({ email, ahead, live }: EmailFacts, site: LiveSite | undefined): Sentence {
  if (live.server !== 'running')
    return withoutCommand('It is due now; the server did not answer, so no more is known.')
  const project = live.projects[email.projectId]
  if (project?.isShort === true) {
    const rate = project.emailsPerSecond === 1 ? '1 email' : `${project.emailsPerSecond} emails`
    return withoutCommand(
      `It is due and waits for the rate limit of its project: ${rate} a second (limits.emails_per_second).`,
    )
  }
  if (site?.hasCapacity?.[email.queueClass] === false) {
    const first = live.progress[ahead ?? '']
    const doing = first === undefined ? '' : ` The first of them: ${describeStep(first, email)}.`
    return withoutCommand(`${describeFull(site, email)}${doing}`)
  }
  if (project?.hasCapacity?.[email.queueClass] === false) {
    return withoutCommand(
      'It is due and waits for other mail of its project, which is using the whole share of the server that a project may have.',
    )
  }
  if (site?.lackedBy?.includes(email.projectId)) {
    return withoutCommand(
      'It is due and waits for a free connection: those of its project, or for sites that have not replied yet, are all in use.',
    )
  }
  return withoutCommand('It is due now and will be sent as soon as the server gets to it.')
}

function describeFull(
  { site, status }: LiveSite,
  { recipientDomain }: { recipientDomain: string },
): string {
  if (status === null || status.inFlight === 0) {
    return 'It is due and waits for a free connection: the server is busy with other mail.'
  }
  const { connections, inFlight } = status
  const others = inFlight === 1 ? '1 email is' : `${inFlight} emails are`
  const open = connections === 1 ? '1 connection' : `${connections} connections`
  const name = nameSite(site, recipientDomain)
  const { restrictedSince, cause } = status
  const why = cause === null ? '' : `: ${quote(cause.text)}`
  const trouble =
    restrictedSince === null
      ? ''
      : ` It has been accepting less mail than usual since ${formatSecond(restrictedSince)}${why}.`
  return `It is due and waits for capacity at ${name}: ${others} in flight over ${open}.${trouble}`
}

/**
 * Explains mail that is being sent. The claim has set the time of the next attempt; this time means
 * nothing if the running attempt lasts longer.
 */
export function explainSending({ email, live, now }: EmailFacts): Explanation {
  const { retryAt } = email
  const nextAttemptAt = retryAt !== null && retryAt > now ? retryAt : null
  if (live.server === 'none') {
    const reason =
      'The server stopped while the email was being sent; it will be tried again once a server runs.'
    return { reason, command: ['serve'], nextAttemptAt }
  }
  const progress = live.server === 'running' ? live.progress[email.id] : undefined
  if (progress === undefined) return { ...withoutCommand('It is being sent.'), nextAttemptAt }
  return { ...withoutCommand(`It is being sent: ${describeStep(progress, email)}.`), nextAttemptAt }
}

function describeStep(
  { site, step, peer, since }: DeliveryProgress,
  { recipientDomain }: { recipientDomain: string },
): string {
  const peerName =
    peer === null ? nameSite(site, recipientDomain) : `${peer.host} [${peer.address}]`
  const phrase = STEP_PHRASES[step]?.(peerName) ?? `${step} at ${peerName}`
  return `${phrase} since ${formatSecond(since)}`
}

/** By step of `DeliveryProgress`, the words that describe it. */
const STEP_PHRASES: Record<string, (peerName: string) => string> = {
  dns: (peerName) => `looking up the mail servers of ${peerName} in the DNS`,
  waiting: (peerName) => `waiting for a free connection to ${peerName}`,
  compose: () => 'composing the message',
  connect: (peerName) => `connecting to ${peerName}`,
  greeting: (peerName) => `connected to ${peerName}, waiting for its greeting`,
  ehlo: (peerName) => `waiting for ${peerName} to answer EHLO`,
  starttls: (peerName) => `negotiating TLS with ${peerName}`,
  auth: (peerName) => `logging in to ${peerName}`,
  mail: (peerName) => `waiting for ${peerName} to answer MAIL FROM`,
  rcpt: (peerName) => `waiting for ${peerName} to answer RCPT TO`,
  data: (peerName) => `waiting for ${peerName} to answer DATA`,
  message: (peerName) => `sending the message to ${peerName}`,
  'final-dot': (peerName) => `waiting for ${peerName} to confirm the whole message`,
}

function withoutCommand(reason: string): Sentence {
  return { reason, command: null }
}
