/** Explains mail in the queue and in flight; `explain.ts` has the order of the reasons. */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { DeliveryProgress, SiteStatus } from '../../../../outbound/sites/site-status.ts'
import { reasonOf } from '../../../../records/reason.ts'
import type { EmailFacts, Finding, Outline } from './facts.ts'
import { toLast } from './last-attempt.ts'
import type { LiveSite } from './live-status.ts'
import { describeSaid } from './phrases.ts'
import { quote, shortened } from './quote.ts'

export function explainHeld({
  email,
  hold,
  isCampaignPaused: campaignPaused,
}: EmailFacts): Outline {
  const { recipientDomain: domain, heldAt } = email
  const since = formatOptionalInstant(heldAt ?? hold?.heldAt ?? null)
  const data = { domain, since, campaignPaused }
  if (hold === null) return withoutCommand(reasonOf('domain_released', data))
  const command = ['queue', 'release', '--domain', domain]
  return { said: reasonOf('domain_held', data), command }
}

export function explainPaused(facts: EmailFacts): Outline {
  const { email, isCampaignPaused, pace, isOfCampaign, projectHold } = facts
  const { isSenderVerified: senderVerified } = facts
  const since = formatOptionalInstant(email.heldAt)
  if (facts.fencedSince !== null) return explainFence(facts, facts.fencedSince)
  if (projectHold !== null) return explainProjectHold(facts, projectHold)
  const heldDomain = heldDomainOf(facts)
  if (pace !== null) {
    return withoutCommand(reasonOf('campaign_pace', { maxPerHour: pace, heldDomain }))
  }
  if (isCampaignPaused) {
    return withoutCommand(reasonOf('campaign_paused', { since, senderVerified, heldDomain }))
  }
  if (isOfCampaign && !senderVerified) {
    return withoutCommand(reasonOf('sender_unverified', { since, heldDomain }))
  }
  return withoutCommand(reasonOf('due_soon', { since, ofCampaign: isOfCampaign, heldDomain }))
}

/** Also explains mail that is still in the queue, which is put aside when it is due, or before. */
function explainProjectHold(
  facts: EmailFacts,
  hold: NonNullable<EmailFacts['projectHold']>,
): Outline {
  const said = reasonOf('project_held', {
    since: formatInstant(hold.since),
    until: formatOptionalInstant(hold.until),
    ofCampaign: facts.isOfCampaign,
    heldDomain: heldDomainOf(facts),
  })
  return { said, command: ['project', 'update', facts.email.projectId, '--enable'] }
}

/** Also explains mail that is still in the queue, which is put aside when it is due, or before. */
function explainFence(facts: EmailFacts, since: number): Outline {
  const heldDomain = heldDomainOf(facts)
  const command = ['queue', 'release', '--restored', '--project', facts.email.projectId]
  return { said: reasonOf('restored', { since: formatInstant(since), heldDomain }), command }
}

/** The domain of a hold, for mail that waits for another reason as well. */
function heldDomainOf({ hold }: EmailFacts): string | null {
  return hold?.domain ?? null
}

export function explainWaiting(facts: EmailFacts): Finding {
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

/** Whether nothing is sent to the site now, or its rate is lowered. */
function isRestricted({ blockedUntil, messagesPerMinute }: SiteStatus): boolean {
  return blockedUntil !== null || messagesPerMinute !== null
}

function explainStopped(facts: EmailFacts): Outline {
  const { email, now } = facts
  const nextAttemptAt = laterThan(now, email.dueAt ?? now)
  return { said: reasonOf('no_server', { ...whyOf(facts), nextAttemptAt }), command: ['serve'] }
}

/**
 * The reason of the site comes first, followed by the email's own reason unless both are the same.
 */
function explainBackOff(
  facts: EmailFacts,
  { status, nextAttemptAt }: { status: SiteStatus; nextAttemptAt: number },
): Outline {
  const { blockedUntil, messagesPerMinute, rateUntil, restrictedSince, cause, site } = status
  const none = { domain: facts.email.recipientDomain, last: null, siteError: null }
  const shared = {
    site,
    since: formatOptionalInstant(restrictedSince),
    cause: cause && shortened(cause.text),
    ...(isReasonOfSite(facts, status) ? none : whyOf(facts)),
    nextAttemptAt: laterThan(facts.now, nextAttemptAt),
  }
  const said =
    blockedUntil !== null
      ? reasonOf('receiver_closed', { ...shared, until: formatInstant(blockedUntil) })
      : reasonOf('receiver_slowed', {
          ...shared,
          messagesPerMinute,
          until: formatOptionalInstant(rateUntil),
        })
  return { said, command: ['queue', 'sites', '--lift', site] }
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
  if (last !== null) return quote(cause.text) === describeSaid(toLast(last))
  return email.error?.endsWith(cause.text) === true
}

/**
 * Why the email is not delivered yet: its last attempt; without a recorded one, the reason of its site, or a lease
 * that ended because its process ended.
 */
function whyOf({ email, last }: EmailFacts) {
  const { recipientDomain: domain, state, error } = email
  if (last !== null) return { domain, last: toLast(last), siteError: null }
  if (error !== null) return { domain, last: null, siteError: shortened(error) }
  return { domain, last: state === 'deferred' ? LOST_ATTEMPT : null, siteError: null }
}

const LOST_ATTEMPT = {
  ...{ class: null, host: null, reply: null, error: null },
  ...{ interrupted: true, maybeDelivered: true },
}

function explainRetry(facts: EmailFacts): Outline {
  const { email, obstacle, now } = facts
  const at = formatInstant(email.dueAt ?? now)
  const why = whyOf(facts)
  if (obstacle !== null) return withoutCommand(reasonOf('ends_untried', { ...why, at, obstacle }))
  const said = reasonOf('retry_scheduled', { ...why, nextAttemptAt: at })
  return { said, command: ['queue', 'retry', email.id] }
}

/** Explains mail that is due and not claimed yet. */
function explainDue({ email, ahead, live }: EmailFacts, site: LiveSite | undefined): Outline {
  if (live.server !== 'running') return withoutCommand(reasonOf('due_unknown', {}))
  const { queueClass, recipientDomain: domain } = email
  const project = live.projects[email.projectId]
  if (project?.isShort === true) {
    const { emailsPerSecond } = project
    return withoutCommand(reasonOf('project_rate', { emailsPerSecond }))
  }
  if (site?.hasCapacity?.[queueClass] === false) {
    return withoutCommand(explainFull(site, domain, toProgress(live.progress[ahead ?? ''])))
  }
  if (project?.hasCapacity?.[queueClass] === false) {
    return withoutCommand(reasonOf('project_share', {}))
  }
  if (site?.lackedBy?.includes(email.projectId)) {
    return withoutCommand(reasonOf('project_connections', {}))
  }
  return withoutCommand(reasonOf('due', {}))
}

function explainFull(
  { site, status }: LiveSite,
  domain: string,
  progress: ReturnType<typeof toProgress>,
) {
  if (status === null || status.inFlight === 0) {
    return reasonOf('server_busy', { domain, progress })
  }
  const { connections, inFlight, restrictedSince, cause } = status
  const since = formatOptionalInstant(restrictedSince)
  const shown = { since, cause: cause && shortened(cause.text), progress }
  return reasonOf('receiver_busy', { site, domain, inFlight, connections, ...shown })
}

/**
 * Explains mail that is being sent. The claim has set the time of the next attempt; this time means
 * nothing if the running attempt lasts longer.
 */
export function explainSending({ email, live, now }: EmailFacts): Finding {
  const { retryAt, recipientDomain: domain } = email
  const nextAttemptAt = retryAt !== null && retryAt > now ? retryAt : null
  if (live.server === 'none') {
    return { said: reasonOf('server_stopped', {}), command: ['serve'], nextAttemptAt }
  }
  const progress = toProgress(live.server === 'running' ? live.progress[email.id] : undefined)
  return { ...withoutCommand(reasonOf('sending', { domain, progress })), nextAttemptAt }
}

function toProgress(progress: DeliveryProgress | undefined) {
  if (progress === undefined) return null
  const { step, site, peer, since } = progress
  const { host = null, address = null } = peer ?? {}
  return { step, site, host, address, since: formatInstant(since) }
}

/** An instant of the API; null if it is not in the future. */
function laterThan(now: number, at: number): string | null {
  return at > now ? formatInstant(at) : null
}

function withoutCommand(said: Outline['said']): Outline {
  return { said, command: null }
}
