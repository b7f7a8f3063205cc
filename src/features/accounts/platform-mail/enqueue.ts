/**
 * Asks for mail to users. The request becomes a job in the transaction of what it reports, so the mail
 * is written if and only if that commits. Links get their tokens when the mail is written: no job holds
 * one.
 */
import { enqueueJob } from '../../../jobs/enqueue.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export type PlatformMail =
  | { kind: 'verify-email'; userId: string }
  /** For any address, so that the time of an answer does not show whether it has an account. */
  | { kind: 'reset-password'; address: string }
  | { kind: 'invitation'; invitationId: string }
  /** To all members. */
  | { kind: 'project-disabled'; projectId: string }
  /** To all members. `domain` in A-labels. */
  | { kind: 'domain-lost'; projectId: string; domain: string }

export const PLATFORM_MAIL_KIND = 'platform-mail'

export async function enqueuePlatformMail(tx: Tx, mail: PlatformMail, at: number): Promise<void> {
  await enqueueJob(tx, { kind: PLATFORM_MAIL_KIND, payload: mail, now: at })
}
