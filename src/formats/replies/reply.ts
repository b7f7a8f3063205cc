/** SMTP replies, the context in which they are read, and the verdict on them. */

/** The stage of a session that a reply ends; `late` is a report after the session. */
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

/** RFC 5321 reply, RFC 3463 code. `text`: lines joined by '\n', control bytes escaped, bounded. */
export type Reply = { code: number; enhancedCode: string | null; text: string }

export type ReplyContext = {
  stage: Stage
  reply: Reply
  mxHost?: string
  /** At stage `late`. */
  recipientDomain?: string
  /** At stage `late`: the reporting system belongs to another organisation than the recipient. */
  isForeign?: boolean
  /** At stage `late`: the command that the reply was to, if the report names it. */
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

/** The reasons that `bounce inspect` shows. */
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
  /** Permanent for this message. */
  isFinal: boolean
  class: ReplyClass
  reason: BounceReason
  /** The address will never work: suppress it now. */
  isHard: boolean
  /** Counts towards the three strikes that suppress an address. */
  isStrike: boolean
  /** From a hint in the reply or from the rule; null = the usual retry delay applies. */
  retryAfterMs: number | null
  site: SiteAction
  /** False: the site throttles, and the email's counter of attempts does not advance. */
  countsAsFailure: boolean
}
