/**
 * What the row of an email says about its state without its attempts: the code beside the short `reason` of a
 * campaign's recipients. `explain.ts` says more.
 */
import { formatOptionalInstant } from '../../../../base/clock.ts'
import { type Reason, reasonOf } from '../../../../records/reason.ts'
import type { EmailReasonCode } from '../../../../records/reason-codes.ts'
import { reasonOfFailure } from './failures.ts'
import { shortened } from './quote.ts'

type ErrorRow = {
  status: string
  error: string | null
  recipient: string
  /** When the email reached the status, epoch ms; null if it is not known. */
  at: number | null
}

/** Null for an email that is well on its way, or arrived. */
export function reasonOfRow(row: ErrorRow): Reason<EmailReasonCode> | null {
  const { status, error, recipient, at } = row
  if (error === null) return status === 'SUPPRESSED' ? suppressed(recipient) : null
  if (status === 'FAILED') {
    return reasonOfFailure({ error, at, attempts: null, obstacle: null, cutOff: null })
  }
  if (status !== 'BOUNCED') return reasonOf('deferred', { error: shortened(error) })
  return reasonOf('bounced', {
    at: formatOptionalInstant(at),
    error: shortened(error),
    ...{ host: null, class: null, reply: null, suppressedSince: null },
  })
}

function suppressed(recipient: string): Reason<EmailReasonCode> {
  const unknown = { since: null, suppression: null, source: null, cutOff: null }
  return reasonOf('suppressed', { recipient, ...unknown })
}
