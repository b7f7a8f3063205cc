/**
 * Turns workflows into records of the API: one workflow with its graph, and the list of a project
 * by page number or cursor.
 */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import { invalidField, tooLongText } from '../../../../base/errors.ts'
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MAX_SEARCH_LENGTH } from '../../../../records/limits.ts'
import type {
  ListedWorkflow,
  StepRecord,
  TransitionRecord,
  WorkflowDetail,
  WorkflowRecord,
} from '../../../../records/workflow.ts'
import { containsText, listOf, octets } from '../../../../store/dialect.ts'
import { and, count, eq, inArray, isNull, or, type SQL, sql } from '../../../../store/drizzle.ts'
import {
  type Workflow,
  type WorkflowStep,
  type WorkflowTransition,
  workflows,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type Listing, type PageEnd, pageListing } from '../../../ground/listing.ts'
import {
  clausesOf,
  formatSortedCursor,
  parseSortedCursor,
  type SortedPlace,
} from '../../../ground/sorted-cursor.ts'
import { maskConfig } from '../graph/secret-headers.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'
import {
  loadDefinition,
  loadTemplatesOf,
  type StepTemplate,
  type WorkflowDefinition,
} from './find.ts'

/** Whether the caller sees secrets. If not, headers that authenticate requests are masked. */
export type Viewer = { seesSecrets?: boolean | undefined }

export function toWorkflowRecord(workflow: Workflow): WorkflowRecord {
  return {
    id: workflow.id,
    name: workflow.name,
    description: workflow.description,
    enabled: workflow.isEnabled,
    triggerType: workflow.triggerType,
    triggerConfig: workflow.triggerConfig,
    allowReentry: workflow.allowsReentry,
    version: workflow.version,
    nextFireAt: formatOptionalInstant(workflow.nextFireAt),
    projectId: workflow.projectId,
    createdAt: formatInstant(workflow.createdAt),
    updatedAt: formatInstant(workflow.updatedAt),
  }
}

/** Reads the graph of a workflow, and returns the record of the workflow with it. */
export async function loadDetail(
  queries: Queries,
  workflow: Workflow,
  viewer: Viewer,
): Promise<WorkflowDetail> {
  const definition = await loadDefinition(queries, workflow.id)
  return { ...toWorkflowRecord(workflow), steps: await toStepRecords(queries, definition, viewer) }
}

/** Returns the record of a step with the transitions that lead to and from it. */
export async function viewStep(
  queries: Queries,
  { workflowId, stepId }: { workflowId: string; stepId: string },
  viewer: Viewer,
): Promise<StepRecord> {
  const { steps, transitions } = await loadDefinition(queries, workflowId)
  const own = steps.filter(({ id }) => id === stepId)
  const [view] = await toStepRecords(queries, { steps: own, transitions }, viewer)
  if (view === undefined) throw new TypeError('The step was removed in the same transaction.')
  return view
}

export function toTransitionRecord(transition: WorkflowTransition): TransitionRecord {
  const { id, fromStepId, toStepId, condition, waitOutcome, priority } = transition
  return {
    ...{ id, fromStepId, toStepId, condition, waitOutcome, priority },
    createdAt: formatInstant(transition.createdAt),
    updatedAt: formatInstant(transition.updatedAt),
  }
}

async function toStepRecords(
  queries: Queries,
  { steps, transitions }: WorkflowDefinition,
  viewer: Viewer,
): Promise<StepRecord[]> {
  const templates = await loadTemplatesOf(queries, steps[0]?.projectId ?? '', steps)
  const views = transitions.map(toTransitionRecord)
  const [outgoing, incoming] = [
    Map.groupBy(views, ({ fromStepId }) => fromStepId),
    Map.groupBy(views, ({ toStepId }) => toStepId),
  ]
  return steps.map((step) => ({
    id: step.id,
    workflowId: step.workflowId,
    type: step.type,
    name: step.name,
    position: step.position,
    config: shownConfig(step, viewer),
    templateId: step.templateId,
    template: shownTemplate(templates.get(step.templateId ?? '')),
    outgoingTransitions: outgoing.get(step.id) ?? [],
    incomingTransitions: incoming.get(step.id) ?? [],
    createdAt: formatInstant(step.createdAt),
    updatedAt: formatInstant(step.updatedAt),
  }))
}

/**
 * Returns the config as the API shows it. That of a SEND_EMAIL has the template too, because older
 * clients read it there.
 */
function shownConfig(
  { type, config, templateId }: WorkflowStep,
  { seesSecrets = false }: Viewer,
): Record<string, unknown> {
  if (type === 'WEBHOOK') return seesSecrets ? config : maskConfig(config)
  return type === 'SEND_EMAIL' && templateId !== null ? { ...config, templateId } : config
}

function shownTemplate(template: StepTemplate | undefined) {
  return template === undefined ? null : { id: template.id, name: template.name }
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function loadWorkflowDetail(
  { store }: Pick<Base, 'store'>,
  key: WorkflowKey & Viewer,
): Promise<WorkflowDetail> {
  return loadDetail(store.read, await loadWorkflow(store.read, key), key)
}

type WorkflowQuery = {
  projectId: string
  /** The number of the page, 1 by default; not together with a cursor. */
  page?: number | undefined
  /** The cursor of an earlier page, or the id of its last workflow. */
  cursor?: string | undefined
  /** The workflows of a page: 20 by default, at most 100. */
  pageSize?: number | undefined
  /** A part of the name or the description of a workflow; letter case is ignored. */
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
  const cursorOf = ({ id, sortKey }: Line) =>
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

type Line = { id: string; bytes: number; sortKey: string | number }
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

/** Finds the lines of a page, and one more. */
function findLines(
  { store }: Deps,
  query: Ordered & { page: number; pageSize: number },
  place: SortedPlace | undefined,
): Promise<Line[]> {
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
