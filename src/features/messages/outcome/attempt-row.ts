/** The rows of attempts, as `queue show` prints them. */
import type { AttemptOutcome } from '../../../outbound/attempt.ts'
import { attempts, type Email, type StoredFault } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** The part of an email that stays in memory while it is in flight: all that its outcome needs. */
export type InFlightEmail = Pick<
  Email,
  | 'id'
  | 'projectId'
  | 'contactId'
  | 'recipient'
  | 'recipientDomain'
  | 'queueClass'
  | 'subject'
  | 'giveUpAt'
  | 'failureCount'
  | 'attemptCount'
>

export type AttemptRecord = {
  email: InFlightEmail
  /** The site of the attempt. */
  site: string
  outcome: AttemptOutcome
  /** As rendered; null if the message was not rendered. */
  subject: string | null
  /** The faults of its templates that the rendering showed. */
  faults: readonly StoredFault[]
  startedAt: number
}

const insertAttempt = statement((db) =>
  db.insert(attempts).values({
    emailId: parameter('emailId'),
    at: parameter('at'),
    durationMs: parameter('durationMs'),
    result: parameter('result'),
    class: parameter('class'),
    host: parameter('host'),
    address: parameter('address'),
    tls: parameter('tls'),
    replyCode: parameter('replyCode'),
    enhancedCode: parameter('enhancedCode'),
    replyText: parameter('replyText'),
    error: parameter('error'),
    isMaybeDelivered: parameter('isMaybeDelivered'),
    steps: parameter('steps'),
  }),
)

export async function insertAttempts(tx: Tx, records: readonly AttemptRecord[]): Promise<void> {
  await tx.executeEach(insertAttempt, records.map(toRow))
}

function toRow({ email, outcome, startedAt }: AttemptRecord) {
  return {
    emailId: email.id,
    at: startedAt,
    durationMs: Math.round(outcome.durationMs),
    result: outcome.result,
    class: outcome.verdict?.class ?? null,
    host: outcome.host,
    address: outcome.address,
    tls: outcome.tls,
    replyCode: outcome.reply?.code ?? null,
    enhancedCode: outcome.reply?.enhancedCode ?? null,
    replyText: outcome.reply?.text ?? null,
    error: outcome.error,
    isMaybeDelivered: outcome.isMaybeDelivered,
    steps: outcome.steps,
  }
}
