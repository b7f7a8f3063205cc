/** An attempt or a report as the API and `queue show --json` print it. */
import { formatInstant } from '../../../base/clock.ts'
import type { Attempt } from '../../../store/schema/messages.ts'

export function toAttemptView(attempt: Attempt) {
  const { replyCode: code, enhancedCode, replyText: text } = attempt
  return {
    at: formatInstant(attempt.at),
    durationMs: attempt.durationMs,
    host: attempt.host,
    address: attempt.address,
    tls: attempt.tls,
    result: attempt.result,
    class: attempt.class,
    reply: code === null && enhancedCode === null ? null : { code, enhancedCode, text },
    error: attempt.error,
    finalRecipient: attempt.finalRecipient,
    maybeDelivered: attempt.isMaybeDelivered,
    steps: attempt.steps,
  }
}
