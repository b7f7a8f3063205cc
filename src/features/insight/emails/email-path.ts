/** Chooses the index along which a list of emails is read, by the rules in `list-emails.ts`. */
import { comparable } from '../../../base/nfc.ts'
import { WAITING_STATES } from '../../../records/words.ts'
import { indexedBy, listOf, type NamedIndex, rowNumber, unindexed } from '../../../store/dialect.ts'
import { and, type SQL, sql } from '../../../store/drizzle.ts'
import type { EmailStatus, QueueState, SourceType } from '../../../store/schema/words.ts'
import { BAD_ENDS, isBadEnd, onShelves, type Shelf } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { isRelaying } from '../receivers/email-receivers.ts'
import { type NamingDeps, namedDomains } from '../receivers/receiver-name.ts'
import { isOfReceiver, type ReceiverNames } from './receiver-term.sqlite.ts'
import { areWaiting, areWaitingStatuses, findWaiting, type WaitingDeps } from './waiting-emails.ts'

export type EmailFilter = {
  projectId: string
  /** The beginning of the recipient's address, an email's id, or a Message-ID. */
  search?: string | undefined
  contactId?: string | undefined
  campaignId?: string | undefined
  templateId?: string | undefined
  statuses?: readonly EmailStatus[] | undefined
  states?: readonly QueueState[] | undefined
  source?: SourceType | undefined
  isTest?: boolean | undefined
  /** A name of `PROVIDER_NAMES`. */
  receiver?: string | undefined
  executionId?: string | undefined
  workflowId?: string | undefined
  /** The domain of the recipient, in A-labels. */
  domain?: string | undefined
  /** Epoch ms, both included. */
  startAt?: number | undefined
  endAt?: number | undefined
}

/**
 * The order of the rows of a path: by time of creation, by number or by contact, the newest or
 * largest first.
 */
export type PathKey = 'created' | 'number' | 'contact'

export type EmailPath = {
  key: PathKey
  /** Each branch is an SQL text `indexed by … where …`; the rows of all branches are merged. */
  branches: readonly SQL[]
  /** The condition that rows of a branch must also meet. */
  filter: SQL | undefined
  /**
   * The same condition without the project, which is known: all rows of a branch belong to one
   * project.
   */
  ownFilter: SQL | undefined
  /**
   * The beginning of this path's cursors. It makes the next page go on along the same path, even if
   * contacts were added.
   */
  label: string
  /**
   * The path to read after this one. It leaves out the emails of `contactIds`, which this path has.
   */
  rest?: { path: EmailPath; contactIds: readonly string[] }
}

/**
 * A search that a cursor continues. `upTo`: the search reads the emails of contacts up to this
 * number, then the other emails; null: it reads all emails.
 */
type BegunSearch = { upTo: number | null }

/** The maximum number of contacts of a search; with more, all emails are searched. */
const MAX_CONTACTS = 100
/** Texts that begin with a prefix are below the prefix with this character behind it. */
export const LAST_CHARACTER = '\u{10ffff}'

export type PathDeps = Pick<Base, 'config'> & WaitingDeps & NamingDeps

/**
 * Chooses the path. A contact, campaign or template of another project gives a path without
 * branches. `begun`: undefined for the first page of a list.
 */
export async function chooseEmailPath(
  deps: PathDeps,
  given: EmailFilter,
  begun?: BegunSearch,
): Promise<EmailPath> {
  const filter: PathFilter = {
    ...given,
    names: {
      isRelay: isRelaying(deps.config),
      named: given.receiver === undefined ? new Map() : namedDomains(deps),
    },
    waiting: await findWaitingOf(deps, given),
  }
  const { projectId, contactId, search = '' } = filter
  const prefix = comparable(search.trim())
  const isOfContacts = prefix !== '' && contactId === undefined
  const found = isOfContacts ? await findContacts(deps, { projectId, prefix }, begun) : undefined
  const contactIds = found?.ids ?? []
  const indexed = chooseIndex(filter, prefix === '' ? undefined : { prefix, contactIds })
  const isForeign = await isOfOtherProject(deps, indexed, projectId)
  const path = isForeign ? { ...indexed, branches: [] } : indexed
  if (found === undefined) return { ...path, label: prefix === '' ? '' : 'recipient_' }
  const branch = ofContacts(contactIds)
  const way = { key: 'created', index: 'emails_contact', branches: [branch] } as const
  return {
    ...pathOf(way, filter, undefined),
    label: `contacts_${found.upTo}_`,
    rest: { path: { ...path, label: `others_${found.upTo}_` }, contactIds },
  }
}

/** `waiting`: the row numbers of all emails in the states of the filter, if these are few and wait. */
type PathFilter = EmailFilter & { names: ReceiverNames; waiting: readonly number[] | undefined }

/**
 * The emails of a contact, campaign or template are few, or are found by an index of their own: a list of these goes on
 * along the same index on each page.
 */
async function findWaitingOf(
  deps: WaitingDeps,
  { projectId, states = [], statuses = [], ...filter }: EmailFilter,
): Promise<number[] | undefined> {
  const { contactId, campaignId, templateId, executionId } = filter
  const hasIndex = [contactId, campaignId, templateId, executionId].some((id) => id !== undefined)
  if (hasIndex) return undefined
  if (areWaiting(states)) return findWaiting(deps, { projectId, states })
  const isWaiting = states.length === 0 && areWaitingStatuses(statuses)
  return isWaiting ? findWaiting(deps, { projectId, states: WAITING_STATES }) : undefined
}

/** The recipient that a search asks for. Emails of `contactIds` are left out. */
type RecipientSearch = { prefix: string; contactIds: readonly string[] }

function chooseIndex(filter: PathFilter, search: RecipientSearch | undefined): EmailPath {
  const { projectId, contactId, campaignId, templateId, executionId, waiting } = filter
  if (contactId !== undefined) {
    const branches = [ofContacts([contactId])]
    return pathOf({ key: 'created', index: 'emails_contact', branches }, filter, search)
  }
  if (campaignId !== undefined) {
    const branches = [sql`campaign_id = ${campaignId}`]
    return pathOf({ key: 'contact', index: 'emails_campaign', branches }, filter, search)
  }
  if (templateId !== undefined) {
    const branches = [sql`template_id = ${templateId}`]
    return pathOf({ key: 'number', index: 'emails_template', branches }, filter, search)
  }
  if (executionId !== undefined) {
    const branches = [sql`workflow_execution_id = ${executionId}`]
    return pathOf({ key: 'number', index: 'emails_workflow', branches }, filter, search)
  }
  if (waiting !== undefined) {
    const branches = [sql`${rowNumber('emails')} in ${listOf(waiting)}`]
    return pathOf({ key: 'created', index: null, branches }, filter, search)
  }
  const ofProject = sql`project_id = ${projectId}`
  const shelves = badShelvesOf(filter)
  if (shelves !== undefined) {
    const branches = shelves.map(
      (shelf) => sql`${ofProject} and ${isBadEnd} and ${onShelves(shelf)}`,
    )
    return pathOf({ key: 'created', index: 'emails_ends', branches }, filter, search)
  }
  const branches = [ofProject]
  return pathOf({ key: 'created', index: 'emails_newest', branches }, filter, search)
}

/** The shelves that have all emails of the filter; undefined if an email may be on none. */
function badShelvesOf({ statuses = [], states = [] }: EmailFilter): readonly Shelf[] | undefined {
  if (statuses.length > 0 && statuses.every(isBadStatus)) {
    return [...new Set(statuses)].map((status) => BAD_ENDS[status])
  }
  if (states.length === 0 || !states.every(isBadState)) return undefined
  return [...new Set(states.flatMap((state) => SHELVES_OF_STATE[state]))]
}

/** A shelf follows from the status: mail that was complained about may have bounced, too. */
const SHELVES_OF_STATE = {
  bounced: ['bounced', 'complained'],
  failed: ['failed'],
  suppressed: ['suppressed'],
} as const satisfies Partial<Record<QueueState, readonly Shelf[]>>

function isBadState(state: QueueState): state is keyof typeof SHELVES_OF_STATE {
  return Object.hasOwn(SHELVES_OF_STATE, state)
}

function isBadStatus(status: EmailStatus): status is keyof typeof BAD_ENDS {
  return Object.hasOwn(BAD_ENDS, status)
}

/**
 * Whether the rows belong to another project. The emails tell it, because a template may be gone
 * while its emails exist. All rows of a path belong to one project.
 */
async function isOfOtherProject(
  { store }: Pick<Base, 'store'>,
  { branches }: EmailPath,
  projectId: string,
): Promise<boolean> {
  const rows = await store.read.all<{ projectId: string }>(
    sql`select project_id as "projectId" from emails ${branches[0]} limit 1`,
  )
  return rows.some((row) => row.projectId !== projectId)
}

const findLastNumber = statement<{ last: number | null }>(
  () => sql`select max(number) as last from contacts`,
)

const findByPrefix = statement<{ id: string }>(
  () => sql`select id from contacts
    where project_id = ${parameter('projectId')} and email >= ${parameter('prefix')}
      and email < ${parameter('end')} and ${unindexed(sql`number`)} <= ${parameter('upTo')}
    limit ${sql.raw(String(MAX_CONTACTS + 1))}`,
)

/**
 * Returns the contacts of a search. Undefined if a new search finds no contacts or too many, or if
 * a continued search did not begin with contacts.
 */
async function findContacts(
  { store }: Pick<Base, 'store'>,
  { projectId, prefix }: { projectId: string; prefix: string },
  begun: BegunSearch | undefined,
): Promise<{ ids: string[]; upTo: number } | undefined> {
  if (begun?.upTo === null) return undefined
  const upTo = begun?.upTo ?? (await store.read.find(findLastNumber, {}))?.last ?? 0
  const span = { projectId, prefix, end: prefix + LAST_CHARACTER, upTo }
  const ids = (await store.scan.list(findByPrefix, span)).map(({ id }) => id)
  const isBegun = begun !== undefined || (ids.length > 0 && ids.length <= MAX_CONTACTS)
  return isBegun ? { ids: ids.slice(0, MAX_CONTACTS), upTo } : undefined
}

/** A single contact has its own form, because the rows of one contact need no sorting. */
function ofContacts(ids: readonly string[]): SQL {
  const [id] = ids
  return ids.length === 1 ? sql`contact_id = ${id}` : sql`contact_id in ${listOf(ids)}`
}

/** `index`: null if the branches name the rows. */
type Way = { key: PathKey; index: NamedIndex | null; branches: readonly SQL[] }

function pathOf(
  { key, index, branches }: Way,
  filter: PathFilter,
  search: RecipientSearch | undefined,
): EmailPath {
  const { projectId, campaignId, templateId, statuses, source, domain } = filter
  const { states, isTest, receiver, executionId, workflowId, startAt, endAt } = filter
  const span = and(
    startAt === undefined ? undefined : sql`created_at >= ${startAt}`,
    endAt === undefined ? undefined : sql`created_at <= ${endAt}`,
  )
  // The index by creation can search the span of time; with other indexes the span is a filter.
  const inBranch = key === 'created' && span !== undefined ? sql` and ${span}` : sql``
  const isOfProject = index === 'emails_newest' || index === 'emails_ends'
  const ownFilter = and(
    key === 'created' ? undefined : span,
    search === undefined ? undefined : isToRecipient(search),
    campaignId === undefined || index === 'emails_campaign'
      ? undefined
      : sql`campaign_id = ${campaignId}`,
    templateId === undefined || index === 'emails_template'
      ? undefined
      : sql`template_id = ${templateId}`,
    statuses === undefined ? undefined : statusIn(statuses),
    states === undefined ? undefined : sql`state in ${listOf(states)}`,
    isTest === undefined ? undefined : sql`is_test = ${isTest ? 1 : 0}`,
    receiver === undefined ? undefined : isOfReceiver(receiver, filter.names),
    executionId === undefined || index === 'emails_workflow'
      ? undefined
      : sql`workflow_execution_id = ${executionId}`,
    workflowId === undefined ? undefined : isOfWorkflow(workflowId),
    source === undefined ? undefined : sql`source_type = ${source}`,
    domain === undefined ? undefined : sql`recipient_domain = ${domain}`,
  )
  return {
    key,
    branches: branches.map(
      (branch) => sql`${index === null ? sql`` : indexedBy(index)} where ${branch}${inBranch}`,
    ),
    filter: and(isOfProject ? undefined : sql`project_id = ${projectId}`, ownFilter),
    ownFilter,
    label: '',
  }
}

function isOfWorkflow(workflowId: string): SQL {
  return sql`exists (select 1 from workflow_executions as execution
    where execution.id = email.workflow_execution_id and execution.workflow_id = ${workflowId})`
}

function statusIn(statuses: readonly EmailStatus[]): SQL {
  return sql`status in ${listOf(statuses)}`
}

/** The prefix is measured in code points, because SQLite's `substr` counts these. */
function isToRecipient({ prefix, contactIds }: RecipientSearch): SQL | undefined {
  return and(
    sql`substr(recipient, 1, ${[...prefix].length}) = ${prefix}`,
    contactIds.length === 0 ? undefined : sql`contact_id not in ${listOf(contactIds)}`,
  )
}
