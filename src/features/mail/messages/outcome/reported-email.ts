/** Facts about an email when a report about it arrives, and the facts that reports state. */
import type { ReplyVerdict } from '../../../../formats/replies/reply.ts'
import type { RowOf } from '../../../../store/database.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { countEmailAgain, type UsageDeps } from '../../../ground/usage/count.ts'
import type { ReportedReply } from './write-report.ts'

export type EmailReport =
  /**
   * The email was not delivered: the action field says `failed`, whatever the class of the status
   * code.
   */
  | ({ type: 'bounce'; verdict: ReplyVerdict } & ReportFacts)
  | ({ type: 'delay' } & ReportFacts)
  /** An email that was relayed has arrived. */
  | { type: 'delivery'; emailId: string }
  | { type: 'complaint'; emailId: string; feedbackType: string | null }

/** The facts about a delivery that a report states. */
type ReportFacts = {
  emailId: string
  /** The remote server's reply, if the report quotes it. */
  reply?: ReportedReply | null
  /** The diagnostic as one line of limited length, with control bytes escaped. */
  diagnostic: string
  reportingMta?: string | null
  /** The recipient, as the report names it. */
  finalRecipient?: string | null
}

export type ReportOf<Type extends EmailReport['type']> = Extract<EmailReport, { type: Type }>

/** `at`: when the report is recorded. */
export type EmailAndReport<Report> = { email: ReportedEmail; report: Report; at: number }

const listEmails = statement((db) =>
  db
    .select({
      id: emails.id,
      projectId: emails.projectId,
      contactId: emails.contactId,
      recipient: emails.recipient,
      recipientDomain: emails.recipientDomain,
      state: emails.state,
      status: emails.status,
      sentAt: emails.sentAt,
      deliveredAt: emails.deliveredAt,
      complainedAt: emails.complainedAt,
      attemptCount: emails.attemptCount,
      sourceType: emails.sourceType,
      isPlatform: emails.isPlatform,
      createdAt: emails.createdAt,
    })
    .from(emails)
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

export type ReportedEmail = RowOf<typeof listEmails>

/** Returns the emails by id; deleted emails are missing. */
export async function listReportedEmails(
  tx: Tx,
  ids: readonly string[],
): Promise<Map<string, ReportedEmail>> {
  const rows = await tx.list(listEmails, { ids: JSON.stringify(ids) })
  return new Map(rows.map((row) => [row.id, row]))
}

/**
 * Whether reports no longer change the email: BOUNCED and COMPLAINED are terminal, and an email
 * that was never sent cannot bounce.
 */
export function isOver(email: ReportedEmail): boolean {
  return !wasSent(email) || email.state === 'bounced' || email.status === 'COMPLAINED'
}

export function wasSent({ state }: ReportedEmail): boolean {
  return state !== 'received' && state !== 'suppressed'
}

/**
 * Hides every run of 16 or more hexadecimal digits in a report about mail of the server to its
 * users, because it may be a secret that the report quotes. The mail is final, so its secrets are
 * no longer known.
 */
export function shownReport<Report extends EmailReport>(
  { isPlatform }: ReportedEmail,
  report: Report,
): Report {
  if (!isPlatform || report.type === 'delivery' || report.type === 'complaint') return report
  const hide = (text: string) => text.replace(/[0-9a-f]{16}[0-9a-f]*/g, '…')
  const { reply = null, diagnostic } = report
  return {
    ...report,
    diagnostic: hide(diagnostic),
    reply: reply && { ...reply, text: hide(reply.text) },
  }
}

/** The facts of a report that its row stores. */
export function factsOf({
  reply = null,
  diagnostic: error,
  reportingMta: host = null,
  ...rest
}: ReportFacts) {
  return { reply, error, host, finalRecipient: rest.finalRecipient ?? null }
}

/**
 * Counts an email that failed for usage again: a failure is taken off the usage, but the report
 * proves that the email was sent all the same.
 */
export async function countIfFailed(
  deps: UsageDeps,
  tx: Tx,
  { email, at }: Pick<EmailAndReport<unknown>, 'email' | 'at'>,
): Promise<void> {
  if (email.state === 'failed') await countEmailAgain(deps, tx, { email, at, isForced: true })
}
