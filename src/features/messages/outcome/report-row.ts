/**
 * Reports that came after an email's session, as `queue show` prints them beside the attempts. They
 * are rows of the table `attempts` whose `result` begins with `reported-`.
 */
import type { Reply } from '../../../mail/replies/reply.ts'
import { sql } from '../../../store/drizzle.ts'
import { attempts } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export const REPORT_PREFIX = 'reported-'

export type ReportResult = {
  emailId: string
  at: number
  result: 'reported-bounced' | 'reported-delayed' | 'reported-delivered' | 'reported-complaint'
  class?: string
  /** The remote server's reply, as far as the report quotes it. */
  reply?: ReportedReply | null
  error?: string | null
  /** The reporting server. */
  host?: string | null
  /** The recipient that was not reached, as the report names it. */
  finalRecipient?: string | null
}

/** A report may have the enhanced code only. */
export type ReportedReply = Omit<Reply, 'code'> & { code: number | null }

export const findReport = statement<{ id: number }>(
  () => sql`select id from attempts
    where email_id = ${parameter('emailId')} and result = ${parameter('result')} limit 1`,
)

/** Finds the report that has ended an email. */
export const findFinalReport = statement<{ id: number }>(
  () => sql`select id from attempts where email_id = ${parameter('emailId')}
    and result in ('reported-bounced', 'reported-complaint') limit 1`,
)

const insertRow = statement((db) =>
  db.insert(attempts).values({
    emailId: parameter('emailId'),
    at: parameter('at'),
    durationMs: 0,
    result: parameter('result'),
    class: parameter('class'),
    host: parameter('host'),
    replyCode: parameter('replyCode'),
    enhancedCode: parameter('enhancedCode'),
    replyText: parameter('replyText'),
    error: parameter('error'),
    steps: [],
    finalRecipient: parameter('finalRecipient'),
  }),
)

/** Whether a row is a report instead of an attempt. */
export function isReport({ result }: { result: string }): boolean {
  return result.startsWith(REPORT_PREFIX)
}

export async function insertReport(tx: Tx, report: ReportResult): Promise<void> {
  const { emailId, at, result, reply = null } = report
  await tx.execute(insertRow, {
    emailId,
    at,
    result,
    class: report.class ?? null,
    host: report.host ?? null,
    replyCode: reply?.code ?? null,
    enhancedCode: reply?.enhancedCode ?? null,
    replyText: reply?.text ?? null,
    error: report.error ?? null,
    finalRecipient: report.finalRecipient ?? null,
  })
}
