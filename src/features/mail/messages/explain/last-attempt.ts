/** The last attempt of an email as the reasons of the API show it. */
import type { ReasonDataOf } from '../../../../records/reason.ts'
import { INTERRUPTED } from '../queue/leases.ts'
import type { LastAttempt } from './facts.ts'
import { shortened } from './quote.ts'

type Last = NonNullable<ReasonDataOf<'retry_scheduled'>['last']>

export function toLast(attempt: LastAttempt): Last {
  return {
    class: attempt.class,
    host: attempt.host,
    reply: toReply(attempt),
    error: attempt.error === null ? null : shortened(attempt.error),
    interrupted: isInterrupted(attempt),
    maybeDelivered: attempt.isMaybeDelivered,
  }
}

/** Null if no server replied; a report may have the enhanced code alone. */
export function toReply({
  replyCode: code,
  enhancedCode,
  replyText,
}: Pick<LastAttempt, 'replyCode' | 'enhancedCode' | 'replyText'>): Last['reply'] {
  if (code === null && enhancedCode === null) return null
  return { code, enhancedCode, text: replyText === null ? null : shortened(replyText) }
}

/** Whether the process that made the attempt ended before it recorded the outcome. */
export function isInterrupted({ result }: Pick<LastAttempt, 'result'>): boolean {
  return result === INTERRUPTED.result
}
