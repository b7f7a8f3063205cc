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
  const path = await choosePath(deps, filter)
  const isForeign = await isOfOtherProject(deps, path, filter.projectId)
  return isForeign ? { ...path, lanes: [] } : path
}

async function choosePath({ store }: Pick<Base, 'store'>, filter: EmailFilter): Promise<EmailPath> {
  const { projectId, contactId, campaignId, templateId, statuses = [] } = filter
  const prefix = (filter.search ?? '').trim().normalize('NFC').toLowerCase()
  const found = prefix === '' ? undefined : await findContacts({ store }, projectId, prefix)
  const ids = contactId === undefined ? found : [contactId]
  if (ids !== undefined) {
    return pathOf('created', 'emails_contact', [ofContacts(ids)], filter, prefix)
  }
  if (campaignId !== undefined) {
    const own = sql`campaign_id = ${campaignId}`
    return pathOf('contact', 'emails_campaign', [own], filter, prefix)
  }
  if (templateId !== undefined) {
    const own = sql`template_id = ${templateId}`
    return pathOf('number', 'emails_template', [own], filter, prefix)
  }
  const ofProject = sql`project_id = ${projectId}`
  if (statuses.length > 0 && statuses.every((status) => BAD_ENDS.includes(status))) {
    const each = [...new Set(statuses)].map(
      (status) => sql`${ofProject} and ${isBadEnd} and status = ${status}`,
    )
    return pathOf('created', 'emails_ends', each, filter, prefix)
  }
  return pathOf('created', 'emails_newest', [ofProject], filter, prefix)
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

/** Undefined if they are many. */
async function findContacts(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  prefix: string,
): Promise<string[] | undefined> {
  const { address } = contacts
  const rows = await store.read
    .select({ id: contacts.id })
    .from(contacts)
    .where(
      sql`${contacts.projectId} = ${projectId} and ${address} >= ${prefix}
        and ${address} < ${prefix + LAST_CHARACTER}`,
    )
    .limit(MAX_CONTACTS + 1)
  return rows.length > MAX_CONTACTS ? undefined : rows.map(({ id }) => id)
}

/** The rows of one contact need no sorting. */
function ofContacts(ids: readonly string[]): SQL {
  const [id] = ids
  return ids.length === 1 ? sql`contact_id = ${id}` : sql`contact_id in ${listOf(ids)}`
}

function pathOf(
  key: PathKey,
  index: NamedIndex,
  lanes: readonly SQL[],
  filter: EmailFilter,
  prefix: string,
): EmailPath {
  const { projectId, campaignId, templateId, contactId, statuses, source, domain } = filter
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
      prefix === '' || (index === 'emails_contact' && contactId === undefined)
        ? undefined
        : startsWithText(sql`recipient`, prefix),
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
  }
}

function statusIn(statuses: readonly EmailStatus[]): SQL {
  return sql`status in ${listOf(statuses)}`
}

function startsWithText(column: SQL, prefix: string): SQL {
  return sql`substr(${column}, 1, ${prefix.length}) = ${prefix}`
}
