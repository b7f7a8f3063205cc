/**
 * Lists a project's templates by page number or by cursor. The total is counted except after a
 * cursor, because the first page had it. Bodies are read one by one, as the reader takes the templates.
 */

import { invalidField, tooLongText } from '../../../base/errors.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SEARCH_LENGTH } from '../../../records/limits.ts'
import type { TemplateRecord } from '../../../records/template.ts'
import { containsText, octets } from '../../../store/dialect.ts'
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  or,
  type SQL,
  sql,
} from '../../../store/drizzle.ts'
import { type Template, templates } from '../../../store/schema/messages.ts'
import type { ContentClass } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Queries } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type Listing, type PageEnd, pageListing, withEnd } from '../../ground/listing.ts'
import type { Reference, ReferenceQuery, ReferenceSource } from '../../ground/manifest/reference.ts'
import { formatSortedCursor, parseSortedCursor } from '../../ground/sorted-cursor.ts'
import { isTemplateOf, toTemplateRecord } from './templates.ts'

export type TemplateQuery = {
  projectId: string
  /** The number of templates on a page: 20 if absent, at most 100. */
  limit?: number | undefined
  /** The number of the page, from 1; instead of a cursor. */
  page?: number | undefined
  cursor?: string | undefined
  type?: ContentClass | undefined
  /** A part of the name, description or subject, in any letter case. */
  search?: string | undefined
  sort?: TemplateOrder['sort'] | undefined
  dir?: TemplateOrder['dir'] | undefined
}

/** `total`: the number of templates on all pages; 0 after a cursor. */
type TemplatesEnd = PageEnd & { total: number }

type Deps = Pick<Base, 'store' | 'keyring'>

const SORT_KEYS: Record<TemplateOrder['sort'], SQL<TemplateSortKey>> = {
  name: sql<TemplateSortKey>`lower(${templates.name})`,
  createdAt: sql<TemplateSortKey>`${templates.createdAt}`,
  updatedAt: sql<TemplateSortKey>`${templates.updatedAt}`,
}

const { body, ...columns } = getTableColumns(templates)

const findBody = statement((db) =>
  db
    .select({ body })
    .from(templates)
    .where(eq(templates.id, parameter('id'))),
)

type TemplateOrder = { sort: 'name' | 'createdAt' | 'updatedAt'; dir: 'asc' | 'desc' }

/** The value that the list is sorted by: an instant (epoch ms), or the name in lower case. */
type TemplateSortKey = string | number

type CursorPosition = { id: string; sortKey: TemplateSortKey }

const CURSOR_PATTERN = /^(name|createdAt|updatedAt)\.(asc|desc)\.([0-9a-f-]{36})\.([\w-]+)$/

export const TEMPLATE_REFERENCES: readonly ReferenceSource[] = [
  {
    column: 'templates.from_domain',
    label: 'templates',
    refersTo: ['sending domain'],
    find: findTemplates,
  },
]

/** @throws AppError VALIDATION_ERROR for an unknown cursor, or a limit or page below 1 */
export async function listTemplates(
  deps: Deps,
  query: TemplateQuery,
): Promise<Listing<TemplateRecord, TemplatesEnd>> {
  const order = { sort: query.sort ?? 'createdAt', dir: query.dir ?? 'desc' }
  const limit = Math.min(readCount('limit', query.limit ?? DEFAULT_PAGE_SIZE), MAX_PAGE_SIZE)
  const rows = await findRows(deps, { query, order, limit })
  const lines = rows.slice(0, limit)
  const last = rows.length > limit ? lines.at(-1) : undefined
  const cursorOf = ({ template, sortKey }: (typeof rows)[number]) =>
    formatSortedCursor(deps, 'templates', { ...order, sortKey, id: template.id, page: 1 })
  const page = pageListing({
    lines,
    bytesOf: ({ bytes }) => bytes,
    read: (slice) => readBodies(deps, slice),
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  const total = query.cursor === undefined ? await countAll(deps, query) : 0
  return withEnd(page, (end) => ({ ...end, total }))
}

/** Reads one row more than the page has, to know whether there is a next page. */
async function findRows(
  deps: Deps,
  { query, order, limit }: { query: TemplateQuery; order: TemplateOrder; limit: number },
) {
  const sortKey = SORT_KEYS[order.sort]
  const by = order.dir === 'asc' ? asc : desc
  const skipped = (readCount('page', query.page ?? 1) - 1) * limit
  return deps.store.scan
    .select({ template: columns, sortKey, bytes: sql<number>`${octets(body)}` })
    .from(templates)
    .where(and(matches(query), await isAfterCursor(deps, query, order)))
    .orderBy(by(sortKey), by(templates.id))
    .limit(limit + 1)
    .offset(query.cursor === undefined ? skipped : 0)
}

/**
 * Reads the bodies of a page's templates; undefined stands for a template that was deleted
 * meanwhile.
 */
async function readBodies(
  { store }: Deps,
  found: readonly { template: Omit<Template, 'body'> }[],
): Promise<(TemplateRecord | undefined)[]> {
  const views: (TemplateRecord | undefined)[] = []
  for (const { template } of found) {
    const row = await store.read.find(findBody, { id: template.id })
    views.push(row && toTemplateRecord({ ...template, body: row.body }))
  }
  return views
}

async function countAll({ store }: Deps, query: TemplateQuery): Promise<number> {
  const [counted] = await store.scan
    .select({ total: count() })
    .from(templates)
    .where(matches(query))
  return counted?.total ?? 0
}

function matches({ projectId, type, search = '' }: TemplateQuery): SQL | undefined {
  const part = search.trim()
  if (part.length > MAX_SEARCH_LENGTH) {
    throw invalidField('search', 'too_big', tooLongText(MAX_SEARCH_LENGTH))
  }
  const columns = [templates.name, templates.description, templates.subject]
  return and(
    eq(templates.projectId, projectId),
    type === undefined ? undefined : eq(templates.type, type),
    part === '' ? undefined : or(...columns.map((column) => containsText(column, part))),
  )
}

async function isAfterCursor(
  deps: Deps,
  { projectId, cursor }: TemplateQuery,
  order: TemplateOrder,
): Promise<SQL | undefined> {
  if (cursor === undefined) return undefined
  const { id, sortKey } =
    parseOlderCursor(order, cursor) ??
    (await parseSortedCursor(deps, 'templates', {
      ...order,
      cursor,
      findSortKey: (id) => findSortKey(deps, { projectId, id }, order),
    }))
  const than = order.dir === 'asc' ? sql`>` : sql`<`
  return sql`(${SORT_KEYS[order.sort]}, ${templates.id}) ${than} (${sortKey}, ${id})`
}

async function findSortKey(
  { store }: Deps,
  key: { projectId: string; id: string },
  { sort }: TemplateOrder,
): Promise<TemplateSortKey | undefined> {
  const sortKey = SORT_KEYS[sort]
  const row = await store.read.select({ sortKey }).from(templates).where(isTemplateOf(key)).get()
  return row?.sortKey
}

function readCount(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw invalidField(field, 'too_small', 'Must be at least 1')
}

/**
 * Reads the cursors that older versions made, `<sort>.<dir>.<id>.<sort key>`. New ones are sealed
 * (`ground/sorted-cursor.ts`). Returns undefined for an unknown cursor and for a cursor of a list in another order.
 */
function parseOlderCursor(order: TemplateOrder, cursor: string): CursorPosition | undefined {
  const [, sort, dir, id, key] = CURSOR_PATTERN.exec(cursor) ?? []
  if (sort !== order.sort || dir !== order.dir) return undefined
  if (id === undefined || key === undefined) return undefined
  const text = Buffer.from(key, 'base64url').toString()
  if (sort === 'name') return { id, sortKey: text }
  return /^\d{1,15}$/.test(text) ? { id, sortKey: Number(text) } : undefined
}

async function findTemplates(
  queries: Queries,
  { projectId, referent, limit }: ReferenceQuery,
): Promise<Reference[]> {
  if (referent.kind !== 'sending domain') return []
  return queries
    .select({ id: templates.id, name: templates.name })
    .from(templates)
    .where(and(eq(templates.projectId, projectId), eq(templates.fromDomain, referent.domain)))
    .orderBy(asc(templates.createdAt), asc(templates.id))
    .limit(limit ?? Number.MAX_SAFE_INTEGER)
}
