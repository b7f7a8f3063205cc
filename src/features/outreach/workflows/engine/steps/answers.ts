/**
 * Answers: the mail of a workflow on `email.received` to the sender of the message that started it. All
 * mail of one execution is one answer, so a workflow of several emails goes through. Mail to other addresses is
 * none, nor is what was suppressed or has failed.
 */
import { DAY_MS } from '../../../../../base/clock.ts'
import { unindexed } from '../../../../../store/dialect.ts'
import { sql } from '../../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import type { Walker } from '../walk.ts'

/** Seeks the emails of the contact, and the execution of each. */
const countAnswers = statement<{ answers: number }>(
  () => sql`select count(distinct execution.number) as answers from emails
    join workflow_executions as execution on execution.id = emails.workflow_execution_id
    where emails.contact_id = ${parameter('contactId')} and emails.created_at > ${parameter('since')}
      and emails.workflow_execution_id is not null
      and ${unindexed(sql`emails.recipient`)} = ${parameter('recipient')}
      and emails.state not in ('suppressed', 'failed')
      and ${unindexed(sql`execution.workflow_id`)} = ${parameter('workflowId')}
      and execution.number <> ${parameter('executionNumber')}`,
)

/** Returns why the answer is withheld; undefined if it may be sent. */
export async function findWithheld(
  tx: Tx,
  { number, contact }: Walker,
  { workflowId, perDay, at }: { workflowId: string; perDay: number; at: number },
): Promise<string | undefined> {
  const { id: contactId, address: recipient } = contact
  const key = { contactId, recipient, workflowId, executionNumber: number }
  const found = await tx.find(countAnswers, { ...key, since: at - DAY_MS })
  if ((found?.answers ?? 0) < perDay) return undefined
  const answers = perDay === 1 ? 'an answer' : `${perDay} answers`
  return `the sender has had ${answers} within 24 hours (answersPerDay)`
}
