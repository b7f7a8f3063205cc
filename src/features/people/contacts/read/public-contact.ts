/**
 * What the holder of a signed link sees, on the hosted pages and in the public contact calls. A link gives
 * access to its contact and the name of the project only. The contacts of a disabled project are found
 * too, so that recipients can always unsubscribe. A link whose contact was deleted still shows whether its
 * address wants mail.
 */

import { and, eq, isNull, sql } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import { suppressions } from '../../../../store/schema/suppressions.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { type Language, matchLanguage } from '../../../../texts/languages.ts'
import type { Base } from '../../../ground/base.ts'
import { isMatchedBy } from '../../wishes/wishes.ts'
import { findLinkSubject, type SignedLink } from './link-subject.ts'

export type PageContact = {
  /** Null if no contact has the address. */
  id: string | null
  /** Null when only a digest of the address is left. */
  address: string | null
  subscribed: boolean
  /** The language of its hosted pages. */
  language: Language
  /** The name of the project; the host of this server if only the digest of the address is left. */
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

const selectProject = statement((db) =>
  db
    .select({ name: projects.name, language: projects.language })
    .from(projects)
    .where(and(eq(projects.id, parameter('id')), isNull(projects.deletedAt))),
)

/**
 * Returns undefined if neither a row nor a digest is left of the address that the link stands for,
 * or if its project was deleted.
 */
export async function findPageContact(
  { store, config }: Pick<Base, 'store' | 'config'>,
  link: SignedLink,
): Promise<PageContact | undefined> {
  const subject = await findLinkSubject(store.read, link)
  if (subject === undefined) return undefined
  const [contactId] = subject.contactIds
  if (contactId !== undefined) {
    const row = await store.read.find(selectContact, { id: contactId })
    return row && toPageContact(row)
  }
  const { projectId, address } = subject
  const project =
    projectId === null ? null : await store.read.find(selectProject, { id: projectId })
  if (project === undefined) return undefined
  return {
    id: null,
    address,
    subscribed: await isMatchedBy(store.read, { ...subject, subscribed: true }),
    language: matchLanguage(project?.language) ?? 'en',
    projectName: project?.name ?? new URL(config.baseUrl).host,
    isSuppressed: false,
  }
}

type ContactRow = {
  data: Contact['data']
  projectLanguage: string
  isSuppressed: number
} & Pick<Contact, 'id' | 'address' | 'subscribed'> & { projectName: string }

function toPageContact({ data, projectLanguage, isSuppressed, ...contact }: ContactRow) {
  const language = matchLanguage(localeOf(data)) ?? matchLanguage(projectLanguage) ?? 'en'
  return { ...contact, language, isSuppressed: isSuppressed === 1 }
}

function localeOf(data: Contact['data']): string | undefined {
  return typeof data?.locale === 'string' ? data.locale : undefined
}
