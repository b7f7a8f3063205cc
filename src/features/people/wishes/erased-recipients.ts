/**
 * Keeps the ids of deleted contacts and emails with the digests of their addresses, and the digests
 * of former addresses of contacts. Links and return paths in sent mail name such an id or digest:
 * by the row, an unsubscription or a bounce still finds the digest of the address, and the contact
 * that has the address by now. Rows are kept for 400 days.
 *
 * Mail that was accepted since the instance has its key carries the digest itself. Such an email
 * needs a row only if it went to another address than that of its contact.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { addressDigest, listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Retention } from '../../../work/retention.ts'

export type ErasedRecipient = { projectId: string; digest: Buffer; contactId: string | null }

const KEPT_MS = 400 * DAY_MS
/** The number of rows that a transaction of the retention deletes. */
const PAGE = 1_000

/** Keeps the ids of contacts that are about to be deleted. `contacts`: a query of the ids. */
export function insertErasedContacts(contacts: SQL): SQL {
  return sql`insert into erased_recipients (id, digest, project_id, at)
    select id, ${addressDigest(sql`project_id`, sql`email`)}, project_id, ${parameter('at')}
    from contacts where id in (${contacts}) on conflict (id) do nothing`
}

/**
 * Keeps the ids of emails that are about to be deleted, if they need a row. Received mail has no
 * links. `emails`: a query of the ids.
 */
export function insertErasedEmails(emails: SQL): SQL {
  return sql`insert into erased_recipients (id, digest, project_id, contact_id, at)
    select emails.id, ${addressDigest(sql`emails.project_id`, sql`emails.recipient`)},
      emails.project_id, (select id from contacts where contacts.project_id = emails.project_id
        and contacts.email = emails.recipient), ${parameter('at')}
    from emails left join contacts as owner on owner.id = emails.contact_id
    where emails.id in (${emails}) and emails.state <> 'received'
      and (emails.created_at < (select created_at from instance_keys where name = 'addresses')
        or owner.email is null or owner.email <> emails.recipient)
    on conflict (id) do nothing`
}

/**
 * Keeps the address that a contact had, for links without an email: these have the digest of that
 * address. The row names the contact, so that mail to the address is known to be the contact's
 * (`store/email-terms.ts`).
 */
const insertFormerAddress = statement(
  () => sql`insert into erased_recipients (id, digest, project_id, contact_id, at)
    values (${parameter('id')}, ${addressDigest(parameter('projectId'), parameter('address'))},
      ${parameter('projectId')}, ${parameter('contactId')}, ${parameter('at')})`,
)

/**
 * From now on, links with the digest of this address also reach the contact that gets the address
 * next.
 */
export async function recordFormerAddress(
  tx: Tx,
  former: { projectId: string; contactId: string; address: string; at: number },
): Promise<void> {
  await tx.execute(insertFormerAddress, { ...former, id: newId() })
}

export const findErasedByIds = statement<ErasedRecipient>(
  () => sql`select project_id as projectId, digest, contact_id as contactId
    from erased_recipients where id in ${listOf(parameter('ids'))}`,
)

export const findErasedByDigest = statement<ErasedRecipient>(
  () => sql`select project_id as projectId, digest, contact_id as contactId
    from erased_recipients where digest = ${parameter('digest')} limit 1`,
)

const updateSuccessor = statement(
  () => sql`update erased_recipients set contact_id = ${parameter('contactId')}
    where digest = ${addressDigest(parameter('projectId'), parameter('address'))}`,
)

/** From now on, links that name a deleted contact or email of this address act for `contactId`. */
export async function nameSuccessor(
  tx: Tx,
  successor: { projectId: string; address: string; contactId: string },
): Promise<void> {
  await tx.execute(updateSuccessor, successor)
}

/** Deletes the oldest rows: rows are numbered in the order of their time. */
const deletePage = statement(
  () => sql`delete from erased_recipients where number in (
    select number from erased_recipients order by number limit ${PAGE}) and at < ${parameter('before')}`,
)

export const ERASED_RECIPIENTS: Retention = {
  name: 'delete-expired-erased-recipients',
  schedule: '35 4 * * *',
  keptMs: KEPT_MS,
  deletions: [{ statement: deletePage, index: 'PRIMARY KEY' }],
  pace: { rows: PAGE, rest: 'none' },
}
