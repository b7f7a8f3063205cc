/** The answer to a send: the emails that it stored, and what the client should know of them. */
import { formatInstant } from '../../base/clock.ts'
import type { AcceptedMessage } from '../../features/mail/messages/accept/accept-message.ts'
import { describeFieldFault } from '../../features/mail/messages/accept/template-check.ts'
import type { SentEmails } from '../../records/email.ts'
import { json } from '../response.ts'
import { warningText } from '../weak-data.ts'

const NONE: string[] = []

/** The row of an idempotency key stores this data: its bytes are part of the API. */
export function toSentEmails({ emails, at, warnings, faults }: AcceptedMessage): SentEmails {
  const shown = {
    emails: emails.map(({ id, contactId, recipient }) => ({
      contact: { id: contactId, email: recipient },
      email: id,
    })),
    timestamp: formatInstant(at),
  }
  if (faults.length === 0 && warnings.length === 0) return shown
  const texts = faults.map((fault) => warningText(toFaultWarning(fault)))
  return { warnings: [...texts, ...warnings], ...shown }
}

/** `told`: warnings about the request, which come before those about the message. */
export function sentResponse(
  { emails, timestamp, warnings: found = NONE }: SentEmails,
  told: readonly string[],
) {
  const isAny = told.length > 0 || found.length > 0
  const warnings = isAny ? [...told, ...found] : undefined
  return json(200, { success: true, data: { emails, timestamp, warnings }, emails, timestamp })
}

export function toFaultWarning(fault: AcceptedMessage['faults'][number]) {
  return { field: fault.field, message: describeFieldFault(fault) }
}
