/** Conditions on emails; `shelves.ts` has those of partial indexes. */
import { addressDigest, jsonType, jsonValue } from './dialect.ts'
import { type SQL, sql } from './drizzle.ts'

const UNFINISHED = ['queued', 'deferred', 'held', 'paused', 'sending']

/** Whether the email waits or is being sent. */
export const isUnfinishedEmail = sql.raw(`state in (${quoted(UNFINISHED)})`)

/** The state of an email that waits: `deferred` after an attempt, even one that was interrupted. */
export const waitingState: SQL = sql.raw(`case when attempt_count > 0
    or exists (select 1 from attempts where attempts.email_id = emails.id)
  then 'deferred' else 'queued' end`)

/**
 * Whether a workflow sent the email to an address that its step names (`Snapshot.reader`); false once
 * retention has cleared the email's snapshot.
 */
export const isToOther: SQL = sql`(emails.workflow_execution_id is not null
  and ${jsonType(sql`emails.variables`, 'reader')} is not null)`

/**
 * The address of the contact when the email was accepted, if `isToOther` holds for the email; null for
 * other emails.
 */
const readerAddress: SQL = jsonValue(jsonValue(sql`emails.variables`, 'reader'), 'email')

/**
 * 1 if a workflow's email went to another address than that of its contact. Once retention has cleared the
 * snapshot, the addresses of the contact tell: the email went to the contact if the recipient is the
 * contact's address, or a former one (`erased_recipients`).
 */
export const wentToOther: SQL = sql`case when ${isToOther} then ${readerAddress} <> emails.recipient
  else emails.workflow_execution_id is not null and emails.variables is null
    and not exists (select 1 from contacts where contacts.id = emails.contact_id
      and contacts.email = emails.recipient)
    and not exists (select 1 from erased_recipients
      where erased_recipients.digest = ${addressDigest(sql`emails.project_id`, sql`emails.recipient`)}
        and erased_recipients.contact_id = emails.contact_id) end`

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(', ')
}
