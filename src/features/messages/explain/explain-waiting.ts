/** Explains mail in the queue and in flight; `explain.ts` has the order of the reasons. */
import { formatSecond } from '../../../clock.ts'
import { displayDomain } from '../../../mail/address/address.ts'
import type { DeliveryProgress, SiteStatus } from '../../../outbound/sites/site-status.ts'
import {
  describeBackOff,
  describeFailure,
  describeWord,
  isRestricted,
  nameSite,
  quote,
} from './explain-words.ts'
import type { Explanation, Facts } from './facts.ts'
import type { LiveSite } from './live-status.ts'

type Sentence = Omit<Explanation, 'nextAttemptAt'>

export function explainHeld({ email, hold }: Facts): Sentence {
  const { recipientDomain, heldAt } = email
  const at = heldAt ?? hold?.heldAt
  const since = at === undefined ? '' : ` since ${formatSecond(at)}`
  const domain = displayDomain(recipientDomain)
  if (hold === null) {
    return say(`It was held${since}; mail to ${domain} is released, and it goes on in a minute.`)
  }
  const reason = `It is held${since}: an operator holds back all mail to ${domain}.`
  return { reason, command: ['queue', 'release', '--domain', domain] }
}

export function explainWaiting(facts: Facts): Explanation {
  const { email, hold, live, now } = facts
  if (hold !== null) return { ...explainHeld(facts), nextAttemptAt: null }
  const ownAt = email.dueAt ?? now
  if (live.server === 'none') return { ...explainStopped(facts), nextAttemptAt: ownAt }
  const site = live.server === 'running' ? live.sites[email.recipientDomain] : undefined
  const status = site?.status ?? null
  const nextAttemptAt = Math.max(ownAt, status?.blockedUntil ?? 0)
  if (status !== null && isRestricted(status)) {
    return { ...explainBackOff(facts, { status, nextAttemptAt }), nextAttemptAt }
  }
  if (ownAt > now) return { ...explainSchedule(facts), nextAttemptAt }
  return { ...explainDue(facts, site), nextAttemptAt }
}

function explainStopped({ email, last, now }: Facts): Sentence {
  const dueAt = email.dueAt ?? now
  const when = dueAt <= now ? 'It is due now' : `The next attempt is at ${formatSecond(dueAt)}`
  const reason = `${describeLast(email, last)} ${when}, but no server is running.`.trim()
  return { reason, command: ['serve'] }
}

/** The reason of the site comes first, then the email's own, unless both are the same. */
function explainBackOff(
  { email, last, now }: Facts,
  { status, nextAttemptAt }: { status: SiteStatus; nextAttemptAt: number },
): Sentence {
  const own = isToldBySite({ email, last }, status) ? '' : ` ${describeLast(email, last)}`
  const next =
    nextAttemptAt > now
      ? `The next attempt is at ${formatSecond(nextAttemptAt)}.`
      : 'It is due, and waits for its turn.'
  return {
    reason: `${describeBackOff(status, email.recipientDomain)}${own.trimEnd()} ${next}`,
    command: ['queue', 'sites', '--lift', status.site],
  }
}

/** An untried email stores the reason of its site, which may be a reply to another email. */
function isToldBySite({ email, last }: Pick<Facts, 'email' | 'last'>, { cause }: SiteStatus) {
  if (cause === null) return false
  if (last !== null) return quote(cause.text) === describeWord(last)
  return email.error?.endsWith(cause.text) === true
}

/** Why the email is not delivered yet; '' if there is nothing to tell. */
function describeLast(email: Facts['email'], last: Facts['last']): string {
  return last === null ? describeUntried(email) : describeFailure(last, email.recipientDomain)
}

function explainSchedule({ email, last, now }: Facts): Sentence {
  const next = `The next attempt is at ${formatSecond(email.dueAt ?? now)}.`
  return {
    reason: `${describeLast(email, last)} ${next}`.trim(),
    command: ['queue', 'retry', email.id],
  }
}

/**
 * Explains mail without a recorded attempt: the reason of its site, or a lease that ended because its
 * process died.
 */
function describeUntried({ state, error }: Facts['email']): string {
  if (error !== null) return `${quote(error)}.`
  if (state !== 'deferred') return ''
  return 'It was being sent when its sender ended, so how that went is not known.'
}

/** Explains mail that is due and not claimed yet. */
function explainDue({ email, ahead, live }: Facts, site: LiveSite | undefined): Sentence {
  if (live.server !== 'running') return say('It is due now; the server did not say more.')
  const project = live.projects[email.projectId]
  if (project?.isShort === true) {
    const rate = project.emailsPerSecond === 1 ? '1 email' : `${project.emailsPerSecond} emails`
    return say(
      `It is due, and waits for its project's turn: of a project ${rate} a second may start (limits.emails_per_second), and more are due.`,
    )
  }
  if (site?.hasRoom[email.queueClass] === false) {
    const first = live.progress[ahead ?? '']
    const doing =
      first === undefined ? '' : ` Of the first of these, ${describeStep(first, email)}.`
    return say(`${describeFull(site, email)}${doing}`)
  }
  if (project?.hasRoom[email.queueClass] === false) {
    return say(
      'It is due, and waits for other mail of its project, which has its share of the server.',
    )
  }
  return say('It is due now, and goes as soon as the server comes to it.')
}

function describeFull(
  { site, status }: LiveSite,
  { recipientDomain }: { recipientDomain: string },
): string {
  if (status === null || status.inFlight === 0) {
    return 'It is due, and waits for a free connection: the server is busy with other mail.'
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
      : ` It takes less than usual since ${formatSecond(restrictedSince)}${why}.`
  return `It is due, and waits for a free place at ${name}: ${others} on the way there over ${open}.${trouble}`
}

/** The claim has set the time of the next attempt; it is void once this attempt outlasts it. */
export function explainSending({ email, live, now }: Facts): Explanation {
  const { retryAt } = email
  const nextAttemptAt = retryAt !== null && retryAt > now ? retryAt : null
  if (live.server === 'none') {
    const reason = 'The server ended while it was being sent; it is tried again once one runs.'
    return { reason, command: ['serve'], nextAttemptAt }
  }
  const progress = live.server === 'running' ? live.progress[email.id] : undefined
  if (progress === undefined) return { ...say('It is being sent.'), nextAttemptAt }
  return { ...say(`It is being sent: ${describeStep(progress, email)}.`), nextAttemptAt }
}

function describeStep(
  { site, step, peer, since }: DeliveryProgress,
  { recipientDomain }: { recipientDomain: string },
): string {
  const place = peer === null ? nameSite(site, recipientDomain) : `${peer.host} [${peer.address}]`
  const doing = doings[step]?.(place) ?? `${step} at ${place}`
  return `since ${formatSecond(since)} ${doing}`
}

/** A description for each step of `DeliveryProgress`. */
const doings: Record<string, (place: string) => string> = {
  dns: (place) => `the mail servers of ${place} are looked up in the DNS`,
  waiting: (place) => `a free connection to ${place} is waited for`,
  compose: () => 'its text is made',
  connect: (place) => `a connection to ${place} is tried`,
  greeting: (place) => `${place} is connected and has not greeted yet`,
  ehlo: (place) => `${place} is greeted and has not answered yet`,
  starttls: (place) => `encryption with ${place} is being agreed on`,
  auth: (place) => `we log in at ${place}`,
  mail: (place) => `${place} has been told the sender and has not answered yet`,
  rcpt: (place) => `${place} has been told the recipient and has not answered yet`,
  data: (place) => `${place} has been asked to take the text and has not answered yet`,
  message: (place) => `its text is on the way to ${place}`,
  'final-dot': (place) => `${place} has the whole text and has not confirmed it yet`,
}

function say(reason: string): Sentence {
  return { reason, command: null }
}
