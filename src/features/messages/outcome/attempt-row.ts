/** The rows of attempts, as `queue show` tells them. */
import type { AttemptOutcome } from '../../../outbound/attempt.ts'
import { attempts, type Email, type StoredFault } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** What is known of an email while it is under way: all that its outcome needs. */
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
  /** Where it was tried. */
  site: string
  outcome: AttemptOutcome
  /** As rendered; null when it was not. */
  subject: string | null
  /** Of its templates, when it was rendered. */
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
