/**
 * Lists a project's templates by page number or by cursor. The total is counted except after a
 * cursor, because the first page had it. Without a page number, a page ends early if its bodies are
 * large; a numbered page is always complete. Bodies are read one by one, so that other queries run
 * in between.
 */
import { setImmediate } from 'node:timers/promises'
import { invalidField, tooLongText, unknownCursor } from '../../errors.ts'
import { containsText, octets } from '../../store/dialect.ts'
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
} from '../../store/drizzle.ts'
import { type Template, templates } from '../../store/schema/messages.ts'
import type { ContentClass } from '../../store/schema/words.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'
import { limitPageBytes } from '../events/page-bytes.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SEARCH_LENGTH } from '../limits.ts'
import {
  formatTemplateCursor,
  parseTemplateCursor,
  type TemplateOrder,
  type TemplateSortKey,
} from './cursor.ts'
import { isTemplate } from './get.ts'
import { type TemplateView, toTemplateView } from './view.ts'

export type TemplateQuery = {
  projectId: string
  /** 20 if absent, at most 100. */
  limit?: number | undefined
  /** Counts from 1; instead of a cursor. */
  page?: number | undefined
  cursor?: string | undefined
  type?: ContentClass | undefined
  /** Part of the name, description or subject; letter case is ignored. */
  search?: string | undefined
  sort?: TemplateOrder['sort'] | undefined
  dir?: TemplateOrder['dir'] | undefined
}

type TemplatePage = {
  items: TemplateView[]
  /** The number of templates on all pages; 0 after a cursor. */
  total: number
  cursor: string | null
  hasMore: boolean
}

type Deps = Pick<Base, 'store'>

/** Reading a body of this length takes about a millisecond. */
const MAX_CHARACTERS_AT_ONCE = 128 * 1024

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

/** @throws AppError VALIDATION_ERROR for an unknown cursor, or a limit or page below 1 */
export async function listTemplates(deps: Deps, query: TemplateQuery): Promise<TemplatePage> {
  const order = { sort: query.sort ?? 'createdAt', dir: query.dir ?? 'desc' }
  const limit = Math.min(readCount('limit', query.limit ?? DEFAULT_PAGE_SIZE), MAX_PAGE_SIZE)
  const rows = await findRows(deps, { query, order, limit })
  const found = rows.slice(0, limit)
  const page = query.page === undefined ? limitPageBytes(found, ({ bytes }) => bytes) : found
  const last = page.at(-1)
  const hasMore = rows.length > page.length
  return {
    items: await readBodies(
      deps,
      page.map(({ template }) => template),
    ),
    total: query.cursor === undefined ? await countAll(deps, query) : 0,
    cursor: hasMore && last ? formatTemplateCursor(order, { ...last, id: last.template.id }) : null,
    hasMore,
  }
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

/** Omits templates that were deleted meanwhile. */
async function readBodies(
  { store }: Deps,
  found: readonly Omit<Template, 'body'>[],
): Promise<TemplateView[]> {
  const views: TemplateView[] = []
  for (const template of found) {
    const row = await store.read.find(findBody, { id: template.id })
    if (row === undefined) continue
    views.push(toTemplateView({ ...template, body: row.body }))
    if (row.body.length > MAX_CHARACTERS_AT_ONCE) await setImmediate()
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
  const { id, sortKey } = parseTemplateCursor(order, cursor) ?? { id: cursor, sortKey: undefined }
  const key = sortKey ?? (await findSortKey(deps, { projectId, id }, order))
  const than = order.dir === 'asc' ? sql`>` : sql`<`
  return sql`(${SORT_KEYS[order.sort]}, ${templates.id}) ${than} (${key}, ${id})`
}

/** The id of a template is a valid cursor, too. */
async function findSortKey(
  { store }: Deps,
  key: { projectId: string; id: string },
  { sort }: TemplateOrder,
): Promise<TemplateSortKey> {
  const row = await store.read
    .select({ sortKey: SORT_KEYS[sort] })
    .from(templates)
    .where(isTemplate(key))
    .get()
  if (row !== undefined) return row.sortKey
  throw unknownCursor()
}

function readCount(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw invalidField(field, 'too_small', 'Must be at least 1')
}
