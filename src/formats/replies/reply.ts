/** The types of an SMTP reply, of the context in which it is read, and of the verdict on it. */

/** The stage of a session that ends with the reply; `late`: a report after the session. */
export type Stage =
  | 'connect'
  | 'greeting'
  | 'ehlo'
  | 'starttls'
  | 'auth'
  | 'mail'
  | 'rcpt'
  | 'data'
  | 'message'
  | 'late'

/**
 * An SMTP reply (RFC 5321) with its enhanced code (RFC 3463). `text`: the lines joined by '\n',
 * bounded, control bytes escaped.
 */
export type Reply = { code: number; enhancedCode: string | null; text: string }

export type ReplyContext = {
  stage: Stage
  reply: Reply
  mxHost?: string
  /** The recipient's domain, at stage `late` only. */
  recipientDomain?: string
  /** At stage `late`: the reporting system and the recipient belong to different organisations. */
  isForeign?: boolean
  /** At stage `late`: the command that the reply answered, if the report names one. */
  command?: Stage
}

export type ReplyClass =
  | 'accepted'
  | 'hard'
  | 'disabled'
  | 'quota'
  | 'too_fast'
  | 'greylist'
  | 'throttle'
  | 'connections'
  | 'session'
  | 'block'
  | 'policy'
  | 'content'
  | 'size'
  | 'syntax'
  | 'network'
  | 'dns'
  | 'unknown'

/** The reasons in the output of `bounce inspect`. */
export type BounceReason =
  | 'userunknown'
  | 'hostunknown'
  | 'hasmoved'
  | 'mailboxfull'
  | 'suspended'
  | 'filtered'
  | 'rejected'
  | 'blocked'
  | 'spamdetected'
  | 'policyviolation'
  | 'authfailure'
  | 'toobig'
  | 'toomanyconn'
  | 'ratelimited'
  | 'expired'
  | 'networkerror'
  | 'systemerror'
  | 'mailererror'
  | 'contenterror'
  | 'securityerror'
  | 'virusdetected'
  | 'vacation'
  | 'feedback'
  | 'delivered'
  | 'undetermined'

/**
 * The effect of a reply on the destination site. `slow`: grow no further; `fewer connections`: half of them,
 * for some minutes; `throttle`: one connection and a low rate for 30-90 minutes; `block`: the site refuses the source address, avoid it for
 * hours; `suspend`: stop and alert the operator; `reconnect`: only this connection is over.
 */
export type SiteAction =
  | 'none'
  | 'slow'
  | 'fewer connections'
  | 'throttle'
  | 'block'
  | 'suspend'
  | 'reconnect'

export type ReplyVerdict = {
  /** The delivery of this message has failed for good: no further attempt. */
  isFinal: boolean
  class: ReplyClass
  reason: BounceReason
  /** The address will never work: it is suppressed at once. */
  isHard: boolean
  /** Counts towards the three strikes that suppress an address. */
  isStrike: boolean
  /** The delay that the reply or the rule asks for; null: the usual retry delay applies. */
  retryAfterMs: number | null
  site: SiteAction
  /** False if the site throttles: the email's counter of attempts then does not advance. */
  countsAsFailure: boolean
}
