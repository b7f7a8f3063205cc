/**
 * Finds contacts whose address begins with a text, and the newest emails of the first of them. Reads
 * are ranges of indexes that end after a few rows, so the number of contacts and emails does not
 * matter.
 */
import { parseNamedMailbox } from '../../../formats/address/named-mailbox.ts'
import { eachOf, indexedBy, orderedJoin, rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { normalizedSearch } from '../../people/contacts/list/scope.ts'
import { LAST_CHARACTER } from '../emails/email-path.ts'
import { type Candidate, rankOf, type SearchDeps, type SearchedText } from './candidate.ts'
import { type FoundEmail, toEmailCandidate } from './emails.ts'

const MAX_CONTACTS = 20
/** The number of contacts whose emails are found, and of emails of each. */
const MAX_WITH_EMAILS = 4
const EMAILS_EACH = 5

type FoundContact = { id: string; address: string; subscribed: number }

export const listContactsByPrefix = statement<FoundContact>(
  () => sql`select id, email as address, subscribed from contacts ${indexedBy('contacts_address')}
    where project_id = ${parameter('projectId')} and email >= ${parameter('prefix')}
      and email < ${parameter('end')}
    order by email limit ${sql.raw(String(MAX_CONTACTS))}`,
)

/** The newest emails of each contact, contact after contact. */
export const listEmailsOfContacts = statement<FoundEmail>(
  () => sql`select emails.id, subject, recipient
    from ${eachOf(parameter('ids'))} as contact
    ${orderedJoin()} emails on ${rowNumber('emails')} in (
      select ${rowNumber('own')} from emails as own ${indexedBy('emails_contact')}
      where own.contact_id = contact.value
      order by own.created_at desc limit ${sql.raw(String(EMAILS_EACH))})
    order by contact.key, emails.created_at desc, emails.id desc`,
)

export async function searchAddresses(
  { store }: SearchDeps,
  { projectId, text }: SearchedText,
): Promise<Candidate[]> {
  const prefix =
    parseNamedMailbox(text)?.address.address ?? normalizedSearch({ projectId, search: text })
  const span = { projectId, prefix, end: prefix + LAST_CHARACTER }
  const contacts = await store.scan.list(listContactsByPrefix, span)
  const ids = JSON.stringify(contacts.slice(0, MAX_WITH_EMAILS).map(({ id }) => id))
  const emails = contacts.length === 0 ? [] : await store.scan.list(listEmailsOfContacts, { ids })
  return [
    ...contacts.map((contact) => toContactCandidate(contact, prefix)),
    ...emails.map((email) => toEmailCandidate(email, rankOf(email.recipient, prefix))),
  ]
}

function toContactCandidate({ id, address, subscribed }: FoundContact, prefix: string): Candidate {
  const detail = subscribed === 1 ? 'subscribed' : 'unsubscribed'
  return {
    rank: rankOf(address, prefix),
    result: { kind: 'contact', id, title: address, detail, workflowId: null },
  }
}
