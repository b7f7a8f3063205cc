/**
 * A contact as the holder of its page token sees it, on the hosted pages and in the public contact
 * calls. A token gives access to its contact and the name of the project only. The contacts of a
 * disabled project are found too, so that recipients can always unsubscribe.
 */
import { type Language, matchLanguage } from '../../../mail/languages.ts'
import { and, eq, isNull, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { type Contact, contacts } from '../../../store/schema/contacts.ts'
import { suppressions } from '../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'

export type PublicContact = {
  id: string
  address: string
  subscribed: boolean
  /** The language of its hosted pages. */
  language: Language
}

export type PageContact = PublicContact & {
  projectName: string
  /** Whether the address is suppressed, even if `subscribed` is true. */
  isSuppressed: boolean
}

const selectContact = statement((db) =>
  db
    .select({
      id: contacts.id,
      address: contacts.address,
      subscribed: contacts.subscribed,
      data: contacts.data,
      projectName: projects.name,
      projectLanguage: projects.language,
      isSuppressed: sql<number>`${suppressions.id} is not null`,
    })
    .from(contacts)
    .innerJoin(projects, and(eq(projects.id, contacts.projectId), isNull(projects.deletedAt)))
    .leftJoin(
      suppressions,
      and(
        eq(suppressions.projectId, contacts.projectId),
        eq(suppressions.address, contacts.address),
      ),
    )
    .where(eq(contacts.id, parameter('id'))),
)

/** Returns undefined when the contact no longer exists. */
export async function findPublicContact(
  deps: Pick<Base, 'store'>,
  contactId: string,
): Promise<PublicContact | undefined> {
  const contact = await findPageContact(deps, contactId)
  if (contact === undefined) return undefined
  const { id, address, subscribed, language } = contact
  return { id, address, subscribed, language }
}

/** As `findPublicContact`, with the other facts that a page shows. */
export async function findPageContact(
  { store }: Pick<Base, 'store'>,
  contactId: string,
): Promise<PageContact | undefined> {
  const row = await store.read.find(selectContact, { id: contactId })
  if (row === undefined) return undefined
  const { data, projectLanguage, isSuppressed, ...contact } = row
  const language = matchLanguage(localeOf(data)) ?? matchLanguage(projectLanguage) ?? 'en'
  return { ...contact, language, isSuppressed: isSuppressed === 1 }
}

function localeOf(data: Contact['data']): string | undefined {
  return typeof data?.locale === 'string' ? data.locale : undefined
}
