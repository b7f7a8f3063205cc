import type { BounceReason, ReplyVerdict } from '../replies/reply.ts'

export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'expanded' | 'relayed'

export type ReportedRecipient = {
  /**
   * The recipient that the report names (Final-Recipient, else Original-Recipient), in lower case;
   * '' if unknown.
   */
  recipient: string
  originalRecipient: string | null
  action: ReportedAction
  /** The enhanced code (RFC 3463), such as `5.1.1`. */
  status: string | null
  /** The reply code (RFC 5321), such as 550. */
  replyCode: number | null
  /** `hard`: the address itself will never work; `undetermined`: no rule knows the reason. */
  class: 'hard' | 'soft' | 'undetermined'
  reason: BounceReason
  /** The diagnostic on one line, at most 1,000 characters, control characters escaped. */
  diagnostic: string
  /**
   * The verdict of the reply rules at stage `late`; hard or a strike only if the action is
   * `failed`.
   */
  verdict: ReplyVerdict
}

/** Recipients of a report that are kept; further ones are ignored. */
export const MAX_REPORT_RECIPIENTS = 50

/** Recipients that readers read: one more than are kept, which shows that the report has more. */
export const MAX_READ_RECIPIENTS = MAX_REPORT_RECIPIENTS + 1
