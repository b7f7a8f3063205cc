/** Lists a project's workflows by page number or by cursor. */

import { invalidField, tooLongText } from '../../../../base/errors.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SEARCH_LENGTH } from '../../../../records/limits.ts'
import type { ListedWorkflow } from '../../../../records/workflow.ts'
import { containsText, listOf, octets } from '../../../../store/dialect.ts'
import { and, count, eq, inArray, isNull, or, type SQL, sql } from '../../../../store/drizzle.ts'
import { workflows } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { type Listing, type PageEnd, pageListing } from '../../../ground/listing.ts'
import {
  clausesOf,
  formatSortedCursor,
  parseSortedCursor,
  type SortedPlace,
} from '../../../ground/sorted-cursor.ts'
import { toWorkflowRecord } from './view.ts'

type WorkflowQuery = {
  projectId: string
  /** Counts from 1, which is the default; in place of a cursor. */
  page?: number | undefined
  /** The cursor of an earlier page, or the id of its last workflow. */
  cursor?: string | undefined
  /** 20 if absent, at most 100. */
  pageSize?: number | undefined
  /** Part of the name or the description; letter case is ignored. */
  search?: string | undefined
  isEnabled?: boolean | undefined
  sort?: keyof typeof SORT_KEYS | undefined
  dir?: 'asc' | 'desc' | undefined
}

/** `page`: its number; `total`: the number of workflows on all pages. */
type WorkflowPage = { listing: Listing<ListedWorkflow, PageEnd>; page: number; total: number }

type Deps = Pick<Base, 'store' | 'keyring'>

const SORT_KEYS = {
  name: sql`lower(${workflows.name})`,
  createdAt: sql`${workflows.createdAt}`,
  updatedAt: sql`${workflows.updatedAt}`,
  steps: sql`(select count(*) from workflow_steps
    where workflow_id = workflows.id and removed_at is null)`,
}

type Counted = { workflowId: string; rows: number }

const countSteps = statement<Counted>(
  () => sql`select workflow_id as "workflowId", count(*) as "rows" from workflow_steps
    where workflow_id in ${listOf(parameter('ids'))} and removed_at is null group by workflow_id`,
)

const countExecutions = statement<Counted>(
  () => sql`select workflow_id as "workflowId", count(*) as "rows" from workflow_executions
    where workflow_id in ${listOf(parameter('ids'))} group by workflow_id`,
)

/** @throws AppError VALIDATION_ERROR for a search that is too long and for an unknown cursor */
export async function listWorkflows(deps: Deps, query: WorkflowQuery): Promise<WorkflowPage> {
  const { scan } = deps.store
  const { sort = 'createdAt', dir = 'desc' } = query
  const pageSize = Math.min(query.pageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
  const place = await findPlace(deps, { ...query, sort, dir })
  const page = place === undefined ? (query.page ?? 1) : place.page + 1
  const [found, counted] = await Promise.all([
    findLines(deps, { ...query, sort, dir, page, pageSize }, place),
    scan.select({ total: count() }).from(workflows).where(matches(query)),
  ])
  const lines = found.slice(0, pageSize)
  const last = found.length > pageSize ? lines.at(-1) : undefined
  const cursorOf = ({ id, sortKey }: WorkflowLine) =>
    formatSortedCursor(deps, 'workflows', { sort, dir, sortKey, id, page })
  const listing = pageListing({
    lines,
    bytesOf: ({ bytes }) => bytes,
    read: (slice) =>
      readItems(
        scan,
        slice.map(({ id }) => id),
      ),
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  return { listing, page, total: counted[0]?.total ?? 0 }
}

type WorkflowLine = { id: string; bytes: number; sortKey: string | number }
type Ordered = WorkflowQuery & Required<Pick<WorkflowQuery, 'sort' | 'dir'>>

function findPlace(deps: Deps, { projectId, sort, dir, cursor }: Ordered) {
  if (cursor === undefined) return undefined
  const findSortKey = async (id: string) => {
    const isIt = and(eq(workflows.id, id), eq(workflows.projectId, projectId))
    const sortKey = sql<string | number>`${SORT_KEYS[sort]}`
    const row = await deps.store.scan.select({ sortKey }).from(workflows).where(isIt).get()
    return row?.sortKey
  }
  return parseSortedCursor(deps, 'workflows', { sort, dir, cursor, findSortKey })
}

/** The lines of a page and one more. */
function findLines(
  { store }: Deps,
  query: Ordered & { page: number; pageSize: number },
  place: SortedPlace | undefined,
): Promise<WorkflowLine[]> {
  const key = sql<string | number>`${SORT_KEYS[query.sort]}`
  const id = sql`${workflows.id}`
  const { isAfter, order, limit, offset } = clausesOf({ ...query, key, id, place })
  const bytes = sql<number>`coalesce(${octets(workflows.triggerConfig)}, 0)`
  return store.scan
    .select({ id: workflows.id, bytes, sortKey: key })
    .from(workflows)
    .where(and(matches(query), isAfter))
    .orderBy(...order)
    .limit(limit)
    .offset(offset)
}

/** Undefined for a workflow that was deleted meanwhile. */
async function readItems(
  scan: Base['store']['scan'],
  ids: string[],
): Promise<(ListedWorkflow | undefined)[]> {
  const values = { ids: JSON.stringify(ids) }
  const [rows, steps, executions] = await Promise.all([
    scan.select().from(workflows).where(inArray(workflows.id, ids)),
    scan.list(countSteps, values),
    scan.list(countExecutions, values),
  ])
  const byId = new Map(rows.map((row) => [row.id, row]))
  const numberOf = (counts: readonly Counted[], id: string) =>
    counts.find(({ workflowId }) => workflowId === id)?.rows ?? 0
  return ids.map((id) => {
    const row = byId.get(id)
    if (row === undefined) return undefined
    const counts = { steps: numberOf(steps, id), executions: numberOf(executions, id) }
    return { ...toWorkflowRecord(row), _count: counts }
  })
}

function matches({ projectId, isEnabled, search = '' }: WorkflowQuery): SQL | undefined {
  const part = search.trim()
  if (part.length > MAX_SEARCH_LENGTH) {
    throw invalidField('search', 'too_big', tooLongText(MAX_SEARCH_LENGTH))
  }
  const columns = [workflows.name, workflows.description]
  return and(
    eq(workflows.projectId, projectId),
    isNull(workflows.deletedAt),
    isEnabled === undefined ? undefined : eq(workflows.isEnabled, isEnabled),
    part === '' ? undefined : or(...columns.map((column) => containsText(column, part))),
  )
}
