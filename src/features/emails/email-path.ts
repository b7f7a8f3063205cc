/** Chooses the index along which a list of emails is read. `list-emails.ts` has the rules. */
import { indexedBy, listOf, type NamedIndex, unindexed } from '../../store/dialect.ts'
import { and, type SQL, sql } from '../../store/drizzle.ts'
import { BAD_ENDS, isBadEnd } from '../../store/email-terms.ts'
import { isUuid } from '../../store/ids.ts'
import { contacts } from '../../store/schema/contacts.ts'
import type { EmailStatus, SourceType } from '../../store/schema/words.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'

export type EmailFilter = {
  projectId: string
  /** The beginning of the recipient's address, an email's id, or a Message-ID. */
  search?: string | undefined
  contactId?: string | undefined
  campaignId?: string | undefined
  templateId?: string | undefined
  statuses?: readonly EmailStatus[] | undefined
  source?: SourceType | undefined
  /** The recipient's, in A-labels. */
  domain?: string | undefined
  /** Epoch ms, both included. */
  startAt?: number | undefined
  endAt?: number | undefined
}

/** What the rows of a path are ordered by, newest or largest first. */
export type PathKey = 'created' | 'number' | 'contact'

export type EmailPath = {
  key: PathKey
  /** Each is `indexed by … where …`; their rows are merged. */
  lanes: readonly SQL[]
  /** What the rows of the lanes must match besides. */
  filter: SQL | undefined
  /** A search by the address of emails: for mail to addresses that contacts had before. */
  isByRecipient: boolean
  /** The path to read after this one, which has the emails of `contactIds`. */
  rest?: { path: EmailPath; contactIds: readonly string[] }
}

/** With more contacts than this, the emails are searched instead. */
const MAX_CONTACTS = 100
const LAST_CHARACTER = '\u{10ffff}'

const findById = statement<{ id: string }>(
  () => sql`select id from emails
    where id = ${parameter('id')} and project_id = ${parameter('projectId')}`,
)

/** A Message-ID that begins with an email's id is found by that id. */
const findByMessageId = statement<{ id: string }>(
  () => sql`select id from emails where id = ${parameter('id')}
      and message_id = ${parameter('messageId')} and project_id = ${parameter('projectId')}
    union all select id from emails where substr(message_id, 1, 36) <> id
      and message_id = ${parameter('messageId')} and ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    limit 100`,
)

/** Returns the ids of the emails that a search names exactly; undefined if it names none. */
export async function findNamedEmails(
  { store }: Pick<Base, 'store'>,
  { projectId, search = '' }: EmailFilter,
): Promise<string[] | undefined> {
  const text = search.trim()
  const asId = text.toLowerCase()
  if (isUuid(asId)) {
    return (await store.read.list(findById, { id: asId, projectId })).map(({ id }) => id)
  }
  if (!text.includes('@')) return undefined
  const messageId = text.replace(/^<|>$/g, '')
  const id = messageId.slice(0, 36).toLowerCase()
  const found = await store.read.list(findByMessageId, { id, messageId, projectId })
  return found.length === 0 && messageId === text ? undefined : found.map((email) => email.id)
}

/** A contact, campaign or template of another project has no lanes. */
export async function chooseEmailPath(
  deps: Pick<Base, 'store'>,
  filter: EmailFilter,
): Promise<EmailPath> {
  const { projectId, contactId, search = '' } = filter
  const prefix = search.trim().normalize('NFC').toLowerCase()
  const isOfContacts = prefix !== '' && contactId === undefined
  const contactIds = isOfContacts ? await findContacts(deps, projectId, prefix) : []
  const indexed = chooseIndex(filter, prefix === '' ? undefined : { prefix, contactIds })
  const isForeign = await isOfOtherProject(deps, indexed, projectId)
  const path = isForeign ? { ...indexed, lanes: [] } : indexed
  if (contactIds.length === 0) return path
  const lane = ofContacts(contactIds)
  const way = { key: 'created', index: 'emails_contact', lanes: [lane] } as const
  return { ...pathOf(way, filter, undefined), rest: { path, contactIds } }
}

/** By the recipient, without the emails of some contacts. */
type RecipientSearch = { prefix: string; contactIds: readonly string[] }

function chooseIndex(filter: EmailFilter, search: RecipientSearch | undefined): EmailPath {
  const { projectId, contactId, campaignId, templateId, statuses = [] } = filter
  if (contactId !== undefined) {
    const lanes = [ofContacts([contactId])]
    return pathOf({ key: 'created', index: 'emails_contact', lanes }, filter, search)
  }
  if (campaignId !== undefined) {
    const lanes = [sql`campaign_id = ${campaignId}`]
    return pathOf({ key: 'contact', index: 'emails_campaign', lanes }, filter, search)
  }
  if (templateId !== undefined) {
    const lanes = [sql`template_id = ${templateId}`]
    return pathOf({ key: 'number', index: 'emails_template', lanes }, filter, search)
  }
  const ofProject = sql`project_id = ${projectId}`
  if (statuses.length > 0 && statuses.every((status) => BAD_ENDS.includes(status))) {
    const lanes = [...new Set(statuses)].map(
      (status) => sql`${ofProject} and ${isBadEnd} and status = ${status}`,
    )
    return pathOf({ key: 'created', index: 'emails_ends', lanes }, filter, search)
  }
  const lanes = [ofProject]
  return pathOf({ key: 'created', index: 'emails_newest', lanes }, filter, search)
}

/** The rows of a path belong to one project; a template may be gone while its emails are there. */
async function isOfOtherProject(
  { store }: Pick<Base, 'store'>,
  { lanes }: EmailPath,
  projectId: string,
): Promise<boolean> {
  const rows = await store.read.all<{ projectId: string }>(
    sql`select project_id as "projectId" from emails ${lanes[0]} limit 1`,
  )
  return rows.some((row) => row.projectId !== projectId)
}

/** None if they are many. */
async function findContacts(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  prefix: string,
): Promise<string[]> {
  const { address } = contacts
  const rows = await store.read
    .select({ id: contacts.id })
    .from(contacts)
    .where(
      sql`${contacts.projectId} = ${projectId} and ${address} >= ${prefix}
        and ${address} < ${prefix + LAST_CHARACTER}`,
    )
    .limit(MAX_CONTACTS + 1)
  return rows.length > MAX_CONTACTS ? [] : rows.map(({ id }) => id)
}

/** The rows of one contact need no sorting. */
function ofContacts(ids: readonly string[]): SQL {
  const [id] = ids
  return ids.length === 1 ? sql`contact_id = ${id}` : sql`contact_id in ${listOf(ids)}`
}

type Way = { key: PathKey; index: NamedIndex; lanes: readonly SQL[] }

function pathOf(
  { key, index, lanes }: Way,
  filter: EmailFilter,
  search: RecipientSearch | undefined,
): EmailPath {
  const { projectId, campaignId, templateId, statuses, source, domain } = filter
  const { startAt, endAt } = filter
  const span = and(
    startAt === undefined ? undefined : sql`created_at >= ${startAt}`,
    endAt === undefined ? undefined : sql`created_at <= ${endAt}`,
  )
  // Along the order of creation the span is a part of the index.
  const inLane = key === 'created' && span !== undefined ? sql` and ${span}` : sql``
  const isOfProject = index === 'emails_newest' || index === 'emails_ends'
  return {
    key,
    lanes: lanes.map((lane) => sql`${indexedBy(index)} where ${lane}${inLane}`),
    filter: and(
      isOfProject ? undefined : sql`project_id = ${projectId}`,
      key === 'created' ? undefined : span,
      search === undefined ? undefined : isToRecipient(search),
      campaignId === undefined || index === 'emails_campaign'
        ? undefined
        : sql`campaign_id = ${campaignId}`,
      templateId === undefined || index === 'emails_template'
        ? undefined
        : sql`template_id = ${templateId}`,
      statuses === undefined || index === 'emails_ends' ? undefined : statusIn(statuses),
      source === undefined ? undefined : sql`source_type = ${source}`,
      domain === undefined ? undefined : sql`recipient_domain = ${domain}`,
    ),
    isByRecipient: search !== undefined,
  }
}

function statusIn(statuses: readonly EmailStatus[]): SQL {
  return sql`status in ${listOf(statuses)}`
}

/** SQLite counts code points. */
function isToRecipient({ prefix, contactIds }: RecipientSearch): SQL | undefined {
  return and(
    sql`substr(recipient, 1, ${[...prefix].length}) = ${prefix}`,
    contactIds.length === 0 ? undefined : sql`contact_id not in ${listOf(contactIds)}`,
  )
}
