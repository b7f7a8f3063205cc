import type { BounceReason, ReplyVerdict } from '../replies/reply.ts'

export type ReportedAction = 'failed' | 'delayed' | 'delivered' | 'expanded' | 'relayed'

export type ReportedRecipient = {
  /** As reported (Final-Recipient, else Original-Recipient), in lower case; '' if unknown. */
  recipient: string
  originalRecipient: string | null
  action: ReportedAction
  /** An enhanced code (RFC 3463), such as `5.1.1`. */
  status: string | null
  /** A reply code (RFC 5321), such as 550. */
  replyCode: number | null
  /** `hard`: the address itself will never work; `undetermined`: no rule knows the reason. */
  class: 'hard' | 'soft' | 'undetermined'
  reason: BounceReason
  /** One line, control characters escaped, at most 1,000 characters. */
  diagnostic: string
  /** From the rules at stage `late`; hard or a strike only if the action is `failed`. */
  verdict: ReplyVerdict
}

/** The maximum number of recipients of a report; further ones are ignored. */
export const MAX_REPORT_RECIPIENTS = 50

/** Readers read one recipient more, to detect a longer report. */
export const MAX_READ_RECIPIENTS = MAX_REPORT_RECIPIENTS + 1
