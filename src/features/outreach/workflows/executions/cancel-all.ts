/**
 * Cancels all active executions of a workflow: its row has the number up to which they are
 * cancelled. The executions are also counted, so a million of them takes many short transactions,
 * each of which raises the number.
 *
 * A loop writes the rows of the executions after the response, in short transactions, and cancels
 * the executions of disabled projects. Its state is in the database, so a server that was killed
 * goes on where it stopped.
 */
import { MINUTE_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { indexedBy, orderedJoin } from '../../../../store/dialect.ts'
import { and, eq, sql } from '../../../../store/drizzle.ts'
import { type Workflow, workflows } from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import { settleInPasses } from '../../../../work/settle.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import type { WorkflowNotifier } from '../notifier.ts'
import { loadWorkflow, type WorkflowKey } from '../workflow.ts'
import { cancelManyActive } from './cancel-active.ts'
import { isProjectEnabled } from './find.ts'

type Deps = Pick<Base, 'store' | 'now'> & { workflowNotifier: WorkflowNotifier }

/** One transaction counts and cancels at most this many executions, in 3 ms. */
export const CANCELLED_AT_ONCE = 20_000
const PACE: SweepPace = { rows: CANCELLED_AT_ONCE, rest: 'none' }

const findNewestNumber = statement<{ newest: number }>(
  () => sql`select coalesce(max(number), 0) as newest from workflow_executions`,
)

const isActiveBehind = sql`number > ${parameter('after')}`
const ofWorkflow = sql`workflow_executions ${indexedBy('workflow_executions_status')}
  where workflow_id = ${parameter('workflowId')}`

/**
 * Counts the next active executions, merged from two ranges of an index. `last`: the highest number
 * among them.
 */
const countActive = statement<{ count: number; last: number }>(
  () => sql`select count(*) as count, coalesce(max(number), 0) as last from (
    select number from ${ofWorkflow} and status = 'RUNNING' and ${isActiveBehind}
    union all select number from ${ofWorkflow} and status = 'WAITING' and ${isActiveBehind}
    order by number limit ${CANCELLED_AT_ONCE})`,
)

type SettleDeps = Pick<Base, 'store' | 'now' | 'log' | 'directory'> & {
  workflowNotifier: WorkflowNotifier
}

type Unsettled = Pick<
  Workflow,
  'id' | 'projectId' | 'cancelledThrough' | 'cancelReason' | 'cancelledAt'
>

const SETTLE_PACE: SweepPace = { first: 50, max: 1_000, batchMs: 8, rest: { times: 2 } }

/** After this time, the rows of another workflow are written. */
const PASS_MS = 500

/** `through`: the number of the last cancelled execution. */
type Cancellation = { id: string; reason: string; through: number; at: number }

export const listUnsettledCancellations = statement<Unsettled>(
  () => sql`select id, project_id as "projectId", cancelled_through as "cancelledThrough",
      cancel_reason as "cancelReason", cancelled_at as "cancelledAt"
    from workflows where is_cancelling = 1`,
)

/**
 * Lists workflows of disabled projects that have active executions. Deleted workflows are left out,
 * because their rows are being deleted.
 */
export const listOfDisabled = statement<Pick<Workflow, 'id' | 'projectId'>>(
  () => sql`select workflows.id, workflows.project_id as "projectId"
    from projects ${orderedJoin()} workflows on workflows.project_id = projects.id
    where projects.is_disabled = 1 and workflows.deleted_at is null and exists (select 1 from workflow_executions
      where workflow_id = workflows.id and status in ('RUNNING', 'WAITING')
        and number > workflows.cancelled_through)`,
)

/**
 * Cancels all active executions and returns how many there were. If this takes several
 * transactions, an execution goes on until the transaction that cancels it.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function cancelAllExecutions(deps: Deps, key: WorkflowKey): Promise<number> {
  let after = 0
  const rules = { pace: PACE, heavyFor: key.projectId, until: 'short' as const }
  return sweep(deps, rules, async (tx) => {
    const { count, last } = await cancelSome(deps, tx, { ...key, after })
    tx.afterCommit(() => {
      after = last
    })
    return count
  })
}

/** Cancels all active executions without counting them. */
async function cancelAllInTx(
  deps: Pick<Deps, 'workflowNotifier'>,
  tx: Tx,
  cancellation: Omit<Cancellation, 'through'>,
): Promise<void> {
  const through = (await tx.find(findNewestNumber))?.newest ?? 0
  await cancelThrough(deps, tx, { ...cancellation, through })
}

/** Counts the next active executions, and cancels those that it counted. */
async function cancelSome(
  deps: Deps,
  tx: Tx,
  { after, ...key }: WorkflowKey & { after: number },
): Promise<{ count: number; last: number }> {
  const { id, cancelledThrough } = await loadWorkflow(tx, key)
  const values = { workflowId: id, after: Math.max(after, cancelledThrough) }
  const { count, last } = (await tx.find(countActive, values)) ?? { count: 0, last: 0 }
  const reason = EXIT_REASONS.allCancelled
  if (count > 0) await cancelThrough(deps, tx, { id, reason, through: last, at: deps.now() })
  return { count, last }
}

async function cancelThrough(
  { workflowNotifier }: Pick<Deps, 'workflowNotifier'>,
  tx: Tx,
  { id, reason, through, at }: Cancellation,
): Promise<void> {
  await tx
    .update(workflows)
    .set({ cancelledThrough: through, cancelReason: reason, cancelledAt: at, isCancelling: true })
    .where(eq(workflows.id, id))
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'cancelled' }))
}

/**
 * Starts the loop: it settles at the start, when executions are cancelled or the directory changes,
 * and each minute.
 */
export function startSettlingCancelled(deps: SettleDeps): Loop {
  return startLoop({
    run: ({ signal }) => settleCancelled(deps, signal),
    onError: (error) => logFailure(deps, { error: describeError(error) }),
    wakes: [
      (wake) =>
        deps.workflowNotifier.listen(({ kind }) => {
          if (kind === 'cancelled') wake()
        }),
      deps.directory.onDrop,
    ],
    maxWaitMs: MINUTE_MS,
  })
}

/**
 * Writes the rows of cancelled executions, workflow by workflow in rotation, until no row is left.
 * A workflow whose rows cannot be written waits for the next run.
 */
export async function settleCancelled(deps: SettleDeps, signal?: AbortSignal): Promise<void> {
  await cancelOfDisabled(deps)
  const failed = new Set<string>()
  const list = async () => {
    const unsettled = await deps.store.scan.list(listUnsettledCancellations)
    return unsettled.filter(({ id }) => !failed.has(id))
  }
  const move = (workflow: Unsettled) =>
    writeForAWhile(deps, workflow, signal).catch((error: unknown) => {
      failed.add(workflow.id)
      logFailure(deps, { workflowId: workflow.id, error: describeError(error) })
      return 0
    })
  await settleInPasses({ list, move }, signal)
}

function logFailure({ log }: Pick<SettleDeps, 'log'>, facts: object): void {
  log.error(facts, 'cancelled executions were not written; they will be')
}

async function cancelOfDisabled(deps: SettleDeps): Promise<void> {
  const { store, now } = deps
  for (const { id, projectId } of await store.scan.list(listOfDisabled)) {
    await store.write(async (tx) => {
      if (await isProjectEnabled(tx, projectId)) return
      await cancelAllInTx(deps, tx, { id, reason: EXIT_REASONS.projectDisabled, at: now() })
    })
  }
}

/** Writes rows of the workflow for up to `PASS_MS`. Returns how many it wrote. */
function writeForAWhile(
  deps: SettleDeps,
  workflow: Unsettled,
  signal: AbortSignal | undefined,
): Promise<number> {
  const { projectId: heavyFor } = workflow
  const rules = { pace: SETTLE_PACE, heavyFor, signal, forMs: PASS_MS, until: 'none' as const }
  return sweep(deps, rules, (tx, limit) => writeSome(deps, tx, workflow, limit))
}

/**
 * Writes the rows of up to `limit` cancelled executions. When no row is left, the workflow counts
 * as settled, unless more executions were cancelled meanwhile.
 */
async function writeSome(
  { now, workflowNotifier }: SettleDeps,
  tx: Tx,
  workflow: Unsettled,
  limit: number,
): Promise<number> {
  const { id, cancelledThrough: through } = workflow
  const at = workflow.cancelledAt ?? now()
  const count = await cancelManyActive(tx, { workflow, through, limit, at })
  if (count > 0) return count
  await tx
    .update(workflows)
    .set({ cancelledThrough: 0, cancelReason: null, cancelledAt: null, isCancelling: false })
    .where(and(eq(workflows.id, id), eq(workflows.cancelledThrough, through)))
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'cancelled' }))
  return 0
}
