/** Lists a project's workflows by page number. */

import { invalidField, tooLongText } from '../../../errors.ts'
import { containsText, listOf, octets } from '../../../store/dialect.ts'
import {
  and,
  asc,
  count,
  desc,
  eq,
  inArray,
  isNull,
  or,
  type SQL,
  sql,
} from '../../../store/drizzle.ts'
import { workflows } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SEARCH_LENGTH } from '../../limits.ts'
import { type Listing, wholeListing } from '../../listing.ts'
import { toWorkflowView, type WorkflowView } from './view.ts'

export type WorkflowQuery = {
  projectId: string
  /** Counts from 1, which is the default. */
  page?: number | undefined
  /** 20 if absent, at most 100. */
  pageSize?: number | undefined
  /** Part of the name or the description; letter case is ignored. */
  search?: string | undefined
  isEnabled?: boolean | undefined
  sort?: keyof typeof SORT_KEYS | undefined
  dir?: 'asc' | 'desc' | undefined
}

export type ListedWorkflow = WorkflowView & { _count: { steps: number; executions: number } }

/** `total`: the number of workflows on all pages. */
type WorkflowPage = { listing: Listing<ListedWorkflow, object>; total: number }

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

/** @throws AppError VALIDATION_ERROR for a search that is too long */
export async function listWorkflows(
  { store: { scan } }: Pick<Base, 'store'>,
  query: WorkflowQuery,
): Promise<WorkflowPage> {
  const { page = 1, sort = 'createdAt', dir = 'desc' } = query
  const pageSize = Math.min(query.pageSize ?? DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
  const by = dir === 'asc' ? asc : desc
  const isListed = matches(query)
  const [lines, counted] = await Promise.all([
    scan
      .select({
        id: workflows.id,
        bytes: sql<number>`coalesce(${octets(workflows.triggerConfig)}, 0)`,
      })
      .from(workflows)
      .where(isListed)
      .orderBy(by(SORT_KEYS[sort]), by(workflows.id))
      .limit(pageSize)
      .offset((page - 1) * pageSize),
    scan.select({ total: count() }).from(workflows).where(isListed),
  ])
  const listing = wholeListing({
    lines,
    bytesOf: ({ bytes }) => bytes,
    read: (slice) =>
      readItems(
        scan,
        slice.map(({ id }) => id),
      ),
  })
  return { listing, total: counted[0]?.total ?? 0 }
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
    return { ...toWorkflowView(row), _count: counts }
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
