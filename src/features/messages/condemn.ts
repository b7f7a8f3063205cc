/** What a final refusal means for the address: in session and by a later report alike. */
import type { Verdict } from '../../mail/replies.ts'
import type { Email } from '../../store/schema.ts'
import type { Tx } from '../../store/store.ts'
import { setSubscribed } from '../contacts/upsert.ts'
import { recordStrike } from './strikes.ts'
import { suppress } from './suppression.ts'

type Refusal = {
  email: Pick<Email, 'id' | 'projectId' | 'contactId' | 'recipient'>
  verdict: Pick<Verdict, 'isHard' | 'isStrike' | 'reason'>
  /** The refusal as one line, for people. */
  source: string
  at: number
}

/**
 * Class hard suppresses at once, a full or disabled mailbox and an unexplained 5xx are strikes; what
 * is not the address's fault (our host on a list, the content, a policy) changes nothing.
 */
export async function condemnAddress(
  tx: Tx,
  { email, verdict, source, at }: Refusal,
): Promise<void> {
  const { id: emailId, projectId, contactId, recipient } = email
  const { isHard, isStrike, reason } = verdict
  if (isHard) {
    await suppress(tx, { projectId, email: recipient, reason: 'HARD_BOUNCE', source, emailId, at })
    await setSubscribed(tx, contactId, { subscribed: false, at, reason: 'bounce', emailId })
  } else if (isStrike) {
    await recordStrike(tx, { projectId, contactId, email: recipient, emailId, reason, at })
  }
}
