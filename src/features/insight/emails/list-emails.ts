/**
 * Lists a project's emails, newest first, by cursor. The first of these filters that a query has
 * chooses the index; the other filters are applied to its rows:
 *
 *   search       the email with this id or Message-ID; or, unless they are many, the emails of the
 *                contacts whose address begins with the text; then, along the filters below, other
 *                emails whose recipient begins with it: a contact may have had another address
 *   contactId    the emails of the contact
 *   campaignId   the emails of the campaign, newest contacts first
 *   templateId   the emails made from the template
 *   executionId  the emails of the execution
 *   states       waiting mail only: the emails that the indexes of the queue have, unless they are many;
 *                statuses of waiting mail too
 *   statuses     bad ends only: the partial index of bad ends; states too
 *   (none)       all emails of the project
 *
 * A request looks at a bounded number of rows, so a page of a rare combination may be short or even
 * empty, and still have a next page. The cursor of a search says with which contacts the search
 * began, so contacts that are added or deleted do not change its way. If the address of a contact
 * changes, the contact's mail may appear twice.
 */
import { formatOptionalInstant } from '../../../base/clock.ts'
import { unknownCursor } from '../../../base/errors.ts'
import { OTHER_PROVIDER } from '../../../formats/address/mailbox-providers.ts'
import { sealCursor, unsealCursor } from '../../../records/cursor.ts'
import type { ListedEmailRecord } from '../../../records/email.ts'
import { listOf, rowNumber, unindexed } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { type CountedEnd, withTotal } from '../../ground/list-totals.ts'
import { type Listing, pageListing } from '../../ground/listing.ts'
import {
  explainEmails,
  findLiveStateForProject,
} from '../../mail/messages/explain/explain-emails.ts'
import { EXPLAINED_COLUMNS } from '../../mail/messages/explain/facts.ts'
import type { LiveDeps } from '../../mail/messages/explain/live-status.ts'
import { findWorkflowOrigins } from '../../mail/messages/explain/workflow-origin.ts'
import { SUMMARY_COLUMNS, toSummary } from '../../mail/messages/summary.ts'
import { findReceivers } from '../receivers/email-receivers.ts'
import {
  chooseEmailPath,
  type EmailFilter,
  type EmailPath,
  type PathDeps,
  type PathKey,
} from './email-path.ts'
import { type AskedSource, withSource } from './email-source.ts'
import { findNamedEmails } from './named-emails.ts'
import {
  countEmails,
  KEYS,
  ORDERS,
  type PathPosition,
  rowsOf,
  STRETCH,
  selectPathStretch,
} from './path-rows.ts'

export type EmailQuery = EmailFilter & {
  limit: number
  /** The cursor of the page before, or the id of its last email. */
  cursor?: string | undefined
  /** Whether the total is counted if there are further pages; it is otherwise 0. True if absent. */
  isCounted?: boolean
}

type Deps = Pick<Base, 'keyring' | 'listTotals' | 'now'> & PathDeps & LiveDeps
type FoundRow = PathPosition & { id: string }
type FoundEmail = FoundRow & { path: EmailPath }

/** The maximum number of rows that one request looks at. */
const MAX_ROWS = 50_000

const findKeys = statement<PathPosition>(
  () => sql`select created_at as at, ${rowNumber()} as number, contact_id as "contactId"
    from emails where id = ${parameter('id')} and project_id = ${parameter('projectId')}`,
)

/**
 * Lists a page of emails.
 * @throws AppError VALIDATION_ERROR for an invalid cursor
 */
export async function listEmails(
  deps: Deps,
  asked: EmailQuery & AskedSource,
): Promise<Listing<ListedEmailRecord, CountedEnd>> {
  const query = await withSource(deps, asked)
  const { limit, cursor, isCounted = true, ...filters } = query
  const { page, whole } = await findPage(deps, query)
  return withTotal(deps, {
    page,
    cursor,
    whole: isCounted ? whole : (whole ?? 0),
    query: { list: 'emails', ...filters },
    count: () => countEmails(deps, filters),
  })
}

/**
 * Finds the emails of a page. `whole`: the number of emails in the list, if this page is its last.
 */
async function findPage(deps: Deps, query: EmailQuery) {
  const { limit, cursor, projectId } = query
  const named = await findNamedEmails(deps, query)
  if (named !== undefined) {
    const lines = cursor === undefined ? named.slice(0, limit) : []
    const page = pageListing({
      lines,
      read: (ids) => loadSummaries(deps, projectId, ids),
      cursorOf: (id) => id,
      endCursor: null,
    })
    return { page, whole: named.length }
  }
  const { found, next } = await findEmails(deps, query)
  const seal = (position: string) => sealCursor(deps, 'emails', position)
  const page = pageListing({
    lines: found,
    read: (slice) =>
      loadSummaries(
        deps,
        projectId,
        slice.map(({ id }) => id),
      ),
    cursorOf: ({ path, ...position }) => seal(formatPosition(path, position)),
    endCursor: next === null ? null : seal(next),
  })
  return { page, whole: next === null ? found.length : undefined }
}

/** `next`: the position at which the next page begins; null on the last page. */
async function findEmails(
  deps: Deps,
  query: EmailQuery,
): Promise<{ found: FoundEmail[]; next: string | null }> {
  let { path, after } = await findStart(deps, query)
  const found: FoundEmail[] = []
  let isEnd = false
  for (let read = 0; !isEnd && read < MAX_ROWS; read += STRETCH) {
    const wanted = query.limit - found.length
    const { rows, end } = await readStretch(deps, path, { after, wanted })
    for (const row of rows.slice(0, wanted)) found.push({ ...row, path })
    if (rows.length > wanted) {
      after = rows[wanted - 1] ?? after
      break
    }
    if (end === undefined && path.rest !== undefined) {
      path = path.rest.path
      after = undefined
    } else {
      isEnd = end === undefined
      after = end
    }
  }
  return { found, next: isEnd ? null : formatPosition(path, after) }
}

type EmailStretch = { after: PathPosition | undefined; wanted: number }

/**
 * Reads the next rows of all branches, at most one more than `wanted`. `end`: the position up to
 * which the rows of every branch are known; undefined if each branch has ended or gave more rows
 * than `wanted`.
 */
async function readStretch(
  deps: Deps,
  path: EmailPath,
  { after, wanted }: EmailStretch,
): Promise<{ rows: FoundRow[]; end: PathPosition | undefined }> {
  const { key } = path
  const branches = await Promise.all(
    path.branches.map((branch) => readBranch(deps, path, { branch, after, wanted })),
  )
  const ends = branches.flatMap(({ end }) => end ?? [])
  const end = ends.toSorted((one, other) => compare(key, one, other))[0]
  const rows = branches
    .flatMap((branch) => branch.rows)
    .filter((row) => end === undefined || compare(key, row, end) <= 0)
    .toSorted((one, other) => compare(key, one, other))
  return { rows: rows.slice(0, wanted + 1), end }
}

type BranchStretch = EmailStretch & { branch: SQL }

async function readBranch(
  { store }: Deps,
  path: EmailPath,
  stretch: BranchStretch,
): Promise<{ rows: FoundRow[]; end: PathPosition | undefined }> {
  const rows = await store.scan.all<FoundRow>(selectPathStretch(path, stretch))
  if (rows.length > stretch.wanted) return { rows, end: undefined }
  const order = sql`order by ${ORDERS[path.key]} limit 1 offset ${STRETCH - 1}`
  const [end] = await store.scan.all<FoundRow>(
    sql`select ${KEYS} ${rowsOf(path, stretch)} ${order}`,
  )
  return { rows, end }
}

/** Compares two positions for sorting: negative if `one` comes first in the list. */
function compare(key: PathKey, one: PathPosition, other: PathPosition): number {
  if (key === 'contact') return one.contactId < other.contactId ? 1 : -1
  if (key === 'number') return other.number - one.number
  return other.at - one.at || other.number - one.number
}

async function loadSummaries(
  deps: Deps,
  projectId: string,
  ids: readonly string[],
): Promise<(ListedEmailRecord | undefined)[]> {
  const { store } = deps
  const columns = { ...SUMMARY_COLUMNS, ...EXPLAINED_COLUMNS }
  const rows = await store.read.select(columns).from(emails).where(isNamed(projectId, ids))
  const explained = await explainEmails(deps, rows, findLiveStateForProject(deps))
  const byId = new Map(rows.map((row) => [row.id, row]))
  const origins = await findWorkflowOrigins(store.read, rows)
  const receivers = await findReceivers(deps, rows)
  return ids.map((id) => {
    const row = byId.get(id)
    const why = explained.get(id)
    if (row === undefined || why === undefined) return undefined
    const { reason, reasonCode, reasonData, nextAttemptAt } = why
    return {
      ...toSummary(row, origins.get(id)),
      ...{ reason, reasonCode, reasonData },
      nextAttemptAt: formatOptionalInstant(nextAttemptAt),
      receiver: receivers.get(id) ?? OTHER_PROVIDER,
      attempts: row.attemptCount,
    }
  })
}

/**
 * A condition that finds emails by their ids. Without `unindexed`, SQLite would prefer an index of
 * the project and read all of its emails.
 */
export function isNamed(projectId: string, ids: readonly string[]): SQL {
  return sql`${emails.id} in ${listOf(ids)} and ${unindexed(emails.projectId)} = ${projectId}`
}

/**
 * The label in a cursor: it stands before the position in a search, or alone at the beginning of a
 * path.
 */
const LABEL = /^(?:(contacts|others)_(\d{1,15})|recipient)_/
const CREATED = /^(\d{1,15})_(\d{1,16})$/
const CONTACT = /^contact_([0-9a-f-]{36})$/

function formatPosition({ key, label }: EmailPath, after: PathPosition | undefined): string {
  if (after === undefined) return label
  return `${label}${key === 'contact' ? `contact_${after.contactId}` : `${after.at}_${after.number}`}`
}

type Start = { path: EmailPath; after: PathPosition | undefined }

async function findStart(deps: Deps, query: EmailQuery): Promise<Start> {
  const { projectId, cursor: given = '' } = query
  const isSealed = given !== '' && !isUuid(given)
  const cursor = isSealed ? String(unsealCursor(deps, 'emails', given)) : given
  const [label = '', walk, upTo] = LABEL.exec(cursor) ?? []
  const begun = label === '' ? undefined : { upTo: upTo === undefined ? null : Number(upTo) }
  const first = await chooseEmailPath(deps, query, begun)
  const { rest } = first
  if (isUuid(cursor)) {
    const after = await deps.store.read.find(findKeys, { id: cursor, projectId })
    if (after === undefined) throw unknownCursor()
    const isOfRest = rest !== undefined && !rest.contactIds.includes(after.contactId)
    return { path: isOfRest ? rest.path : first, after }
  }
  const path = walk === 'others' && rest !== undefined ? rest.path : first
  const position = cursor.slice(label.length)
  return { path, after: position === '' ? undefined : parseEmailPosition(path.key, position) }
}

function parseEmailPosition(key: PathKey, text: string): PathPosition {
  const [, contactId] = CONTACT.exec(text) ?? []
  const [, at, number] = CREATED.exec(text) ?? []
  if (key === 'contact' && contactId !== undefined) return { at: 0, number: 0, contactId }
  if (key !== 'contact' && at !== undefined && number !== undefined) {
    return { at: Number(at), number: Number(number), contactId: '' }
  }
  throw unknownCursor()
}
