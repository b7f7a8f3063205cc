/**
 * Writes a report that came after an email's session: the state that the report decides, with its
 * events, and a row that `queue show` prints beside the attempts. Reports are the rows of the table
 * `attempts` whose `result` begins with `reported-`. The table of all final states is at the top of
 * `final-state.ts`.
 */
import type { Reply } from '../../../../formats/replies/reply.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { attempts, type Email, emails } from '../../../../store/schema/messages.ts'
import { SHELF } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { appendEvents, type NewEvent } from '../../../ground/events/append.ts'
import { type BounceType, columnsAtRest, type EmailOfEvent, emailEvent } from './final-state.ts'

export const REPORT_PREFIX = 'reported-'

export type ReportResult = {
  emailId: string
  at: number
  result: 'reported-bounced' | 'reported-delayed' | 'reported-delivered' | 'reported-complaint'
  class?: string
  /** The reply of the server that refused the email, as far as the report quotes it. */
  reply?: ReportedReply | null
  error?: string | null
  /** The server that sent the report. */
  host?: string | null
  /** The recipient that was not reached, as the report names it. */
  finalRecipient?: string | null
}

/** A report may have the enhanced code only. */
export type ReportedReply = Omit<Reply, 'code'> & { code: number | null }

type EmailOfReport = { email: EmailOfEvent & Pick<Email, 'sentAt'>; at: number }

export const findReport = statement<{ id: number }>(
  () => sql`select id from attempts
    where email_id = ${parameter('emailId')} and result = ${parameter('result')} limit 1`,
)

/** Finds the bounce or complaint that has ended an email. */
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

const setBounced = statement((db) =>
  db
    .update(emails)
    .set({
      ...columnsAtRest,
      state: 'bounced',
      status: 'BOUNCED',
      shelf: SHELF.bounced,
      sentAt: sql`coalesce(${emails.sentAt}, ${parameter('at')})`,
      bouncedAt: parameter('at'),
      error: parameter('error'),
    })
    .where(eq(emails.id, parameter('id'))),
)

const isAtEnd = sql`${emails.state} in ('delivered', 'relayed', 'bounced')`

/** A bounced email stays bounced; any other is COMPLAINED, even if it was opened or clicked. */
const setComplained = statement((db) =>
  db
    .update(emails)
    .set({
      ...columnsAtRest,
      state: sql`case when ${isAtEnd} then ${emails.state} else 'delivered' end`,
      status: sql`case when ${emails.status} = 'BOUNCED' then 'BOUNCED' else 'COMPLAINED' end`,
      shelf: sql`case when ${emails.status} = 'BOUNCED' then ${emails.shelf} else ${SHELF.complained} end`,
      sentAt: sql`case when ${isAtEnd} then ${emails.sentAt} else ${parameter('at')} end`,
      deliveredAt: sql`case when ${isAtEnd} then ${emails.deliveredAt} else ${parameter('at')} end`,
      complainedAt: parameter('at'),
      error: sql`case when ${isAtEnd} then ${emails.error} end`,
    })
    .where(eq(emails.id, parameter('id'))),
)

const setDelivered = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'delivered',
      status: sql`case when ${emails.status} = 'SENT' then 'DELIVERED' else ${emails.status} end`,
      deliveredAt: parameter('at'),
      updatedAt: parameter('at'),
    })
    .where(eq(emails.id, parameter('id'))),
)

export type ReportedBounce = EmailOfReport & { error: string; bounceType: BounceType }

/**
 * Records that emails were not delivered, as reports say. `error`: the diagnostic of the report.
 */
export async function bounceByReports(tx: Tx, bounces: readonly ReportedBounce[]): Promise<void> {
  const rows = bounces.map(({ email, at, error }) => ({ id: email.id, error, at }))
  await tx.executeEach(setBounced, rows)
  const events = bounces.map(({ email, at, bounceType }) => [
    ...missingSentEvent({ email, at }),
    emailEvent(email, 'email.bounce', { at, data: { bounceType } }),
  ])
  await appendEvents(tx, events.flat())
}

/** Records that a report announces a delay. The state stays. */
export async function recordDelayEvent(tx: Tx, { email, at }: EmailOfReport): Promise<void> {
  const data = { bounceType: 'Transient', transientBounce: true }
  await appendEvents(tx, [emailEvent(email, 'email.bounce', { at, data })])
}

/** Records that relayed mail has arrived, as a report says. */
export async function deliverByReport(tx: Tx, { email, at }: EmailOfReport): Promise<void> {
  await tx.execute(setDelivered, { id: email.id, at })
  await appendEvents(tx, [emailEvent(email, 'email.delivery', { at })])
}

/**
 * Records that the recipient complained. If no outcome of the email is recorded yet, the complaint
 * proves its delivery.
 */
export async function complainByReport(
  tx: Tx,
  {
    email,
    at,
    isSettled,
    feedbackType,
  }: EmailOfReport & {
    isSettled: boolean
    feedbackType: string | null
  },
): Promise<void> {
  await tx.execute(setComplained, { id: email.id, at })
  const delivery = [...missingSentEvent({ email, at }), emailEvent(email, 'email.delivery', { at })]
  const data = feedbackType === null ? null : { feedbackType }
  await appendEvents(tx, [
    ...(isSettled ? [] : delivery),
    emailEvent(email, 'email.complaint', { at, data }),
  ])
}

/** Whether a row is a report instead of an attempt. */
export function isReport({ result }: { result: string }): boolean {
  return result.startsWith(REPORT_PREFIX)
}

export async function insertReports(tx: Tx, reports: readonly ReportResult[]): Promise<void> {
  await tx.insertRows(insertRow, reports.map(toRow))
}

function toRow(report: ReportResult) {
  const { emailId, at, result, reply = null } = report
  return {
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
  }
}

/**
 * Returns the event `email.sent`, if it is missing. A report proves that the email was sent, even
 * if the outcome of its session is not recorded yet, or was lost with the connection or the
 * process.
 */
function missingSentEvent({ email, at }: EmailOfReport): NewEvent[] {
  return email.sentAt === null ? [emailEvent(email, 'email.sent', { at })] : []
}
