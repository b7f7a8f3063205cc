/**
 * The figures of a workflow, as `GET /workflows/:id/stats` returns them, and the counts of its executions by status.
 */
import type { WorkflowStats } from '../../../../records/workflow-stats.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { ExecutionStatus } from '../../../../store/schema/words.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { bucketMs } from '../figures.ts'
import { loadGraph } from '../graph/graph.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'

type StepStats = WorkflowStats['steps'][number]
type Deps = Pick<Base, 'store'>
/** The counts of a workflow, by the name of the figure. */
type Figures = ReadonlyMap<string, number>

const NO_FIGURES: Figures = new Map()
const TOOK = 'took '

/** Counts active executions by their current step. The statement reads only an index. */
export const countByStep = statement<{ stepId: string | null; count: number }>(
  () => sql`select current_step_id as "stepId", count(*) as count
    from workflow_executions ${indexedBy('workflow_executions_place')}
    where workflow_id = ${parameter('workflowId')} and status in ('RUNNING', 'WAITING')
      and number > ${parameter('through')}
    group by current_step_id`,
)

const listFigures = statement<{ subject: string; figure: string; count: number }>(
  () => sql`select subject, figure, count from workflow_figures
    where workflow_id = ${parameter('workflowId')}`,
)

type ExecutionCounts = Readonly<Record<ExecutionStatus, number>>

/**
 * Counts executions by status. The statement reads only an index. A result row with `isShown` 0
 * counts the executions that are cancelled although their status does not say so yet; they are also
 * included in the row with `isShown` 1.
 */
export const countByStatus = statement<{ status: ExecutionStatus; count: number; isShown: number }>(
  () => sql`select status, count(*) as count, 1 as "isShown"
    from workflow_executions ${indexedBy('workflow_executions_status')}
    where workflow_id = ${parameter('workflowId')} group by status
    union all
    select status, count(*), 0
    from workflow_executions ${indexedBy('workflow_executions_status')}
    where workflow_id = ${parameter('workflowId')} and status in ('RUNNING', 'WAITING')
      and number <= ${parameter('through')} group by status`,
)

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function viewWorkflowStats(deps: Deps, key: WorkflowKey): Promise<WorkflowStats> {
  const { store } = deps
  const workflow = await loadWorkflow(store.read, key)
  const [graph, figures, waiting, counts] = await Promise.all([
    loadGraph(store.scan, workflow.id),
    readFigures(deps, workflow),
    countWaiting(deps, workflow),
    countExecutions(deps, workflow),
  ])
  const of = (subject: string) => figures.get(subject) ?? NO_FIGURES
  const steps = [...graph.steps.values()].map(({ id: stepId, name, type }) => {
    const counted = { waiting: waiting.get(stepId) ?? 0, ...countsOf(of(stepId)) }
    return { stepId, name, type, ...counted, medianMs: medianOf(of(stepId)) }
  })
  const transitions = [...graph.outgoing.values()]
    .flat()
    .map(({ id: transitionId, fromStepId, toStepId }) => {
      const taken = of(transitionId).get('taken') ?? 0
      return { transitionId, fromStepId, toStepId, taken }
    })
  return { steps, transitions, executions: toExecutionStats(counts, of('')) }
}

async function readFigures(
  { store }: Deps,
  { id: workflowId }: Pick<Workflow, 'id'>,
): Promise<Map<string, Figures>> {
  const rows = await store.scan.list(listFigures, { workflowId })
  const bySubject = Map.groupBy(rows, ({ subject }) => subject)
  return new Map(
    [...bySubject].map(([subject, own]) => [
      subject,
      new Map(own.map(({ figure, count }) => [figure, count])),
    ]),
  )
}

async function countWaiting(
  { store }: Deps,
  { id: workflowId, cancelledThrough: through }: Pick<Workflow, 'id' | 'cancelledThrough'>,
): Promise<Map<string | null, number>> {
  const rows = await store.scan.list(countByStep, { workflowId, through })
  return new Map(rows.map(({ stepId, count }) => [stepId, count]))
}

function countsOf(figures: Figures): Pick<StepStats, 'completed' | 'failed' | 'skipped'> {
  const count = (figure: string) => figures.get(figure) ?? 0
  return { completed: count('completed'), failed: count('failed'), skipped: count('skipped') }
}

/** Returns the median duration in ms: the middle of the bucket that holds it. */
function medianOf(figures: Figures): number | null {
  const buckets = [...figures]
    .filter(([figure, count]) => figure.startsWith(TOOK) && count > 0)
    .map(([figure, count]) => ({ bucket: Number(figure.slice(TOOK.length)), count }))
    .sort((one, other) => one.bucket - other.bucket)
  let left = buckets.reduce((sum, { count }) => sum + count, 0) / 2
  for (const { bucket, count } of buckets) {
    left -= count
    if (left <= 0) return bucketMs(bucket)
  }
  return null
}

function toExecutionStats(counts: ExecutionCounts, figures: Figures): WorkflowStats['executions'] {
  return {
    total: Object.values(counts).reduce((sum, count) => sum + count, 0),
    running: counts.RUNNING,
    waiting: counts.WAITING,
    completed: counts.COMPLETED,
    exited: counts.EXITED,
    failed: counts.FAILED,
    cancelled: counts.CANCELLED,
    heldBack: figures.get('heldBack') ?? 0,
    tooManyStarts: figures.get('tooManyStarts') ?? 0,
    automatic: figures.get('automatic') ?? 0,
    chainTooDeep: figures.get('chainTooDeep') ?? 0,
    chainDelayed: figures.get('chainDelayed') ?? 0,
  }
}

/** Counts the executions of a workflow by the status that the API shows. */
export async function countExecutions(
  { store }: Pick<Base, 'store'>,
  { id: workflowId, cancelledThrough: through }: Pick<Workflow, 'id' | 'cancelledThrough'>,
): Promise<ExecutionCounts> {
  const rows = await store.scan.list(countByStatus, { workflowId, through })
  const counts = { RUNNING: 0, WAITING: 0, COMPLETED: 0, EXITED: 0, FAILED: 0, CANCELLED: 0 }
  for (const { status, count, isShown } of rows) {
    if (isShown === 1) counts[status] += count
    else {
      counts[status] -= count
      counts.CANCELLED += count
    }
  }
  return counts
}
