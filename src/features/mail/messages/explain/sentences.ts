/** The sentence of each reason for which an email stands where it stands, made from its code and values alone. */
import { displayDomain } from '../../../../formats/address/address.ts'
import type { ReasonData, ReasonDataOf } from '../../../../records/reason.ts'
import type { EmailReasonCode } from '../../../../records/reason-codes.ts'
import {
  counted,
  describeCause,
  describeLast,
  describeOtherHold,
  describeSaid,
  describeSince,
  describeStep,
  nameSite,
  second,
  sinceThen,
} from './phrases.ts'
import { quote } from './quote.ts'
import { REFUSAL_TEXTS } from './refusals.ts'

type Sentences = { [Code in EmailReasonCode]: (data: ReasonDataOf<Code>) => string }

const UNKNOWN_HOST = 'the receiving server'

const WAITING = {
  restored: ({ since, heldDomain }) =>
    `It is held since the database was brought back from a copy or lost its log, at ${second(since)}: it may have been sent meanwhile. It waits until an operator releases its project.${describeOtherHold(heldDomain)}`,
  domain_held: ({ domain, since, campaignPaused }) => {
    const pause = campaignPaused ? ' Its campaign is paused, too, and must be resumed.' : ''
    return `It has been held${sinceThen(since)}: an operator holds all mail to ${displayDomain(domain)}.${pause}`
  },
  domain_released: ({ domain, since, campaignPaused }) => {
    const next = campaignPaused
      ? 'it waits until its paused campaign is resumed'
      : 'it is due within a minute'
    return `It was held${sinceThen(since)}; mail to ${displayDomain(domain)} is released, and ${next}.`
  },
  project_held: ({ since, until, ofCampaign, heldDomain }) => {
    const resume = ofCampaign ? ' Its campaign must be resumed after that.' : ''
    const end = until === null ? '' : `, or fails at ${second(until)}`
    return `It is held: its project was disabled for its reputation at ${second(since)}. It waits until the project is enabled${end}.${resume}${describeOtherHold(heldDomain)}`
  },
  campaign_paused: ({ since, senderVerified, heldDomain }) => {
    const first = senderVerified ? '' : ' The sender domain must be verified again before that.'
    return `It has been paused by its campaign${sinceThen(since)}, and waits until it is resumed.${first}${describeOtherHold(heldDomain)}`
  },
  campaign_pace: ({ maxPerHour, heldDomain }) =>
    `It waits for its turn: its campaign sends at most ${counted(maxPerHour, 'email')} an hour (maxPerHour).${describeOtherHold(heldDomain)}`,
  sender_unverified: ({ since, heldDomain }) =>
    `It has been paused${sinceThen(since)}, and waits until the sender domain is verified again.${describeOtherHold(heldDomain)}`,
  due_soon: ({ since, ofCampaign, heldDomain }) =>
    `It has been ${ofCampaign ? 'paused' : 'held'}${sinceThen(since)}, and is due within a minute.${describeOtherHold(heldDomain)}`,
  no_server: ({ nextAttemptAt, ...why }) => {
    const when =
      nextAttemptAt === null ? 'It is due now' : `The next attempt is at ${second(nextAttemptAt)}`
    return `${describeLast(why)}${when}, but no server is running.`
  },
  receiver_closed: ({ until, since, cause, nextAttemptAt, ...why }) =>
    `Nothing is sent to ${nameSite(why)} until ${second(until)}; it ${describeSince('in back-off', since)}${describeCause(cause)}. ${describeLast(why)}${describeNext(nextAttemptAt)}`,
  receiver_slowed: ({ messagesPerMinute, until, since, cause, nextAttemptAt, ...why }) => {
    const end = until === null ? '' : ` until ${second(until)}`
    return `No more than ${counted(messagesPerMinute, 'email')} a minute may go to ${nameSite(why)}${end}; it ${describeSince('slowed down', since)}${describeCause(cause)}. ${describeLast(why)}${describeNext(nextAttemptAt)}`
  },
  retry_scheduled: ({ nextAttemptAt, ...why }) =>
    `${describeLast(why)}The next attempt is at ${second(nextAttemptAt)}.`,
  ends_untried: ({ at, obstacle, ...why }) =>
    `${describeLast(why)}It will end at ${second(at)} without another attempt: ${textOf(obstacle)}.`,
  project_rate: ({ emailsPerSecond }) =>
    `It is due and waits for the rate limit of its project: ${counted(emailsPerSecond, 'email')} a second (limits.emails_per_second).`,
  receiver_busy: ({ inFlight, connections, since, cause, progress, ...where }) => {
    const others = inFlight === 1 ? '1 email is' : `${inFlight} emails are`
    const trouble =
      since === null
        ? ''
        : ` It has been accepting less mail than usual since ${second(since)}${describeCause(cause)}.`
    return `It is due and waits for capacity at ${nameSite(where)}: ${others} in flight over ${counted(connections, 'connection')}.${trouble}${describeFirst(progress, where.domain)}`
  },
  server_busy: ({ domain, progress }) =>
    `It is due and waits for a free connection: the server is busy with other mail.${describeFirst(progress, domain)}`,
  project_share: () =>
    'It is due and waits for other mail of its project, which is using the whole share of the server that a project may have.',
  project_connections: () =>
    'It is due and waits for a free connection: those of its project, or for sites that have not replied yet, are all in use.',
  due: () => 'It is due now and will be sent as soon as the server gets to it.',
  due_unknown: () => 'It is due now; the server did not answer, so no more is known.',
  deferred: ({ error }) => `It is not delivered yet: ${quote(error ?? 'no reply')}.`,
  sending: ({ domain, progress }) =>
    progress === null
      ? 'It is being sent.'
      : `It is being sent: ${describeStep(progress, domain)}.`,
  server_stopped: () =>
    'The server stopped while the email was being sent; it will be tried again once a server runs.',
} as const satisfies Partial<Sentences>

const ENDED = {
  delivered: ({ at, host, reply, complainedAt }) => {
    const said = reply === null ? '' : ` with ${describeSaid({ reply, error: null })}`
    return `It was delivered at ${second(at)}: ${host ?? UNKNOWN_HOST} accepted it${said}.${describeComplaint(complainedAt)}`
  },
  relayed: ({ at, host, reply, complainedAt }) => {
    const said = reply === null ? '' : `: ${describeSaid({ reply, error: null })}`
    return `It was relayed to ${host ?? UNKNOWN_HOST} at ${second(at)}${said}; whether it was delivered is not known.${describeComplaint(complainedAt)}`
  },
  relayed_delivered: ({ at, host, complainedAt }) =>
    `It was relayed to ${host ?? UNKNOWN_HOST}, which reported its delivery at ${second(at)}.${describeComplaint(complainedAt)}`,
  bounced: ({ at, host, suppressedSince, ...said }) => {
    const by = host === null ? '' : ` by ${host}`
    return `It was refused${by} at ${second(at)}: ${describeSaid(said)}.${describeListed(suppressedSince)}`
  },
  bounce_reported: ({ at, host, recipient, suppressedSince, ...said }) => {
    const about = recipient === null ? '' : ` for ${recipient}`
    const by = host === null ? '' : ` by ${host}`
    return `It bounced at ${second(at)}, as reported${by}${about}: ${describeSaid(said)}.${describeListed(suppressedSince)}`
  },
  suppressed: ({ recipient, since, suppression, source, cutOff }) =>
    `${describeCut(cutOff)}It was not sent: ${recipient} has been on the suppression list${sinceThen(since)}${describeSource(suppression, source)}. To reach the address, remove it from the list and send the email again.`,
  suppression_lifted: ({ recipient, at, cutOff }) =>
    `${describeCut(cutOff)}It was not sent: ${recipient} was on the suppression list at ${second(at)}, but is no longer. To reach the address, send the email again.`,
  cancelled: ({ at, obstacle, cutOff }) =>
    `${describeCut(cutOff)}It was cancelled at ${second(at)}.${describeObstacle(obstacle)}`,
  given_up: ({ at, attempts, error, obstacle, cutOff }) =>
    `${describeCut(cutOff)}It was given up at ${second(at)} after ${counted(attempts, 'attempt')}: ${quote(error ?? 'no reply')}.${describeObstacle(obstacle)}`,
  given_up_untried: ({ error, obstacle, cutOff }) =>
    `${describeCut(cutOff)}It was not sent: given up, its destination could not be tried in time: ${quote(error ?? 'no reply')}.${describeObstacle(obstacle)}`,
  refused: ({ refusal, obstacle, cutOff }) =>
    `${describeCut(cutOff)}It was not sent: ${textOf(refusal)}.${obstacle === refusal ? '' : describeObstacle(obstacle)}`,
  error: ({ error, obstacle, cutOff }) =>
    `${describeCut(cutOff)}It was not sent: ${quote(error ?? 'an internal error')}.${describeObstacle(obstacle)}`,
  received: ({ at }) => `It was received at ${second(at)}.`,
} as const satisfies Partial<Sentences>

const SENTENCES: Sentences = { ...WAITING, ...ENDED }

/** Returns the English sentence of a reason. */
export function sentenceOf(reason: {
  reasonCode: EmailReasonCode
  reasonData: ReasonData
}): string {
  // `reasonOf` gives each code its values; TypeScript does not see that here.
  const say = SENTENCES[reason.reasonCode] as (data: ReasonData) => string
  return say(reason.reasonData)
}

function describeNext(nextAttemptAt: string | null): string {
  return nextAttemptAt === null
    ? 'It is due and waits until the rate allows it.'
    : `The next attempt is at ${second(nextAttemptAt)}.`
}

/** Describes what the first of the emails does for which this one waits. */
function describeFirst(progress: ReasonDataOf<'sending'>['progress'], domain: string): string {
  return progress === null ? '' : ` The first of them: ${describeStep(progress, domain)}.`
}

function describeComplaint(at: string | null): string {
  return at === null ? '' : ` Its recipient complained about it at ${second(at)}.`
}

function describeListed(since: string | null): string {
  return since === null
    ? ''
    : ` The address has been on the suppression list since ${second(since)}.`
}

/** Mail whose last attempt was cut off before the reply, and which was not sent again, may have arrived. */
function describeCut(cutOff: ReasonDataOf<'cancelled'>['cutOff']): string {
  if (cutOff === null) return ''
  const cut = cutOff.interrupted ? 'was interrupted' : 'ended before the reply'
  return `The attempt of ${second(cutOff.at)} ${cut}, so the message may have arrived. `
}

function describeSource(suppression: string | null, source: string | null): string {
  return suppression === null ? '' : ` (${suppression}: ${quote(source ?? '')})`
}

function describeObstacle(obstacle: ReasonDataOf<'cancelled'>['obstacle']): string {
  return obstacle === null ? '' : ` It cannot be retried: ${textOf(obstacle)}.`
}

function textOf(refusal: ReasonDataOf<'refused'>['refusal']): string {
  return refusal === null ? 'an internal error' : REFUSAL_TEXTS[refusal]
}
