/**
 * A turn of a workflow: its next due executions walk in one transaction. Their effects, step rows,
 * positions and counts are written together, or not at all. Executions of chains begin when the
 * line has a place for them; if their workflow was disabled meanwhile, they never begin.
 *
 * When a turn fails, its executions are tried one by one. One that fails alone, by a fault of the
 * program, ends as FAILED, so that it holds back no other. Any other fault, such as a full disk, ends nothing: the turn is tried again.
 */
import { describeError } from '../../../../base/errors.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { appendEvent } from '../../../ground/events/append.ts'
import { findFence } from '../../../ground/fence/rows.ts'
import { type ChainLine, createChainLine, isInLine } from '../chains/line.ts'
import { cancelActive } from '../executions/cancel-active.ts'
import { startedEvent } from '../executions/insert.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import type { WorkflowGraph } from '../graph/graph.ts'
import type { TurnKey } from '../notifier.ts'
import { STEP_ERRORS } from '../reasons.ts'
import { findEarliestDue, listDueExecutions, passOverFenced } from './due.ts'
import { type FoundWorkflow, findGraphWorkflow, type Graphs } from './graphs.ts'
import { type AskedValues, hasTemplates, MAX_ASKED_VALUES } from './step-values.ts'
import { createSteps, type StepDeps } from './steps/steps.ts'
import { createTurnChanges, type StepPlace, type TurnChanges } from './turn-changes.ts'
import type { TurnSize } from './turn-sizes.ts'
import {
  type DueExecution,
  faultOf,
  type StepCall,
  StepFault,
  type StepOutcome,
  type Steps,
  walk,
} from './walk.ts'

export type TurnDeps = StepDeps & Pick<Base, 'counters'> & { graphs: Graphs }

/**
 * `walked`: the number of executions. `nextDueAt`: undefined if no execution of the workflow will
 * be due. `rendering`: the workflow's next turn waits for this promise; it resolves to false if
 * some values could not be rendered now.
 */
export type TurnResult = {
  walked: number
  tookMs: number
  nextDueAt: number | undefined
  rendering?: Promise<boolean>
}

/**
 * `isCrowded`: there is no room for the values that the steps may ask for, so the turn has walked
 * nothing.
 */
type WrittenTurn = TurnResult & { asked: readonly AskedValues[]; isCrowded?: boolean }

/** After this time the executions that are left wait for another turn. */
const MAX_TURN_MS = 25
const MAX_LIGHT_MS = 5
/** The size of a turn for one execution, after a turn of several has failed. */
const ONE_EXECUTION: TurnSize = { limit: 1, isHeavy: false }

/** A turn passes over at most this many fenced executions, in a few ms. */
const MAX_PASSED = 500

const asking = new WeakMap<WorkflowGraph, boolean>()

const EMPTY_TURN: WrittenTurn = { walked: 0, tookMs: 0, nextDueAt: undefined, asked: [] }

/** @throws AppError DATABASE_ERROR */
export async function takeTurn(deps: TurnDeps, key: TurnKey, size: TurnSize): Promise<TurnResult> {
  try {
    return begin(deps, key, await write(deps, key, { size, fail: null }))
  } catch (error) {
    if (!(error instanceof StepFault)) throw error
    if (size.limit > 1)
      return { ...(await takeTurn(deps, key, ONE_EXECUTION)), tookMs: MAX_TURN_MS }
    const facts = {
      workflowId: key.workflowId,
      executionNumber: error.place.number,
      error: describeError(error.cause),
    }
    deps.log.error(facts, error.message)
    return begin(deps, key, await write(deps, key, { size, fail: error.place }))
  }
}

/** Begins to render the values that the turn has asked for. */
function begin(
  { values }: TurnDeps,
  key: TurnKey,
  { asked, isCrowded, ...turn }: WrittenTurn,
): TurnResult {
  const rendering = values.render(key, asked)
  if (isCrowded) return { ...turn, rendering: values.whenRoom(key).then(() => true) }
  return asked.length === 0 ? turn : { ...turn, rendering }
}

/**
 * Walks and writes the turn in one transaction. `fail`: the step that is recorded as failed instead
 * of being made.
 */
function write(
  deps: TurnDeps,
  key: TurnKey,
  { size, fail }: { size: TurnSize; fail: StepPlace | null },
): Promise<WrittenTurn> {
  const heavyFor = size.isHeavy ? key.projectId : undefined
  return deps.store.write((tx) => walkDue(deps, tx, { key, size, fail }), { heavyFor })
}

async function walkDue(
  deps: TurnDeps,
  tx: Tx,
  { key, size, fail }: { key: TurnKey; size: TurnSize; fail: StepPlace | null },
): Promise<WrittenTurn> {
  const { limit, isHeavy } = size
  const maxMs = isHeavy ? MAX_TURN_MS : MAX_LIGHT_MS
  const begunAt = performance.now()
  const at = deps.now()
  const workflow = await tx.find(findGraphWorkflow, { id: key.workflowId })
  const project = await deps.directory.findProject(key.projectId)
  if (workflow === undefined || project === undefined || project.resetSince !== null)
    return EMPTY_TURN
  const after = (await findFence(tx, project.id))?.executionNumber ?? 0
  await passOverFenced(tx, key, { now: at, limit: MAX_PASSED, after })
  const graph = await deps.graphs.get(tx, workflow.id, workflow.version)
  const allowed = asksForValues(graph) ? deps.values.allowance(key) : limit
  const due = await listDueExecutions(tx, key, { now: at, limit: Math.min(limit, allowed), after })
  const changes = createTurnChanges(key)
  const asked: AskedValues[] = []
  const ask = (values: AskedValues) => void asked.push(values)
  const made = createSteps(deps, tx, { workflow, project, at, ask, changes })
  const steps = fail === null ? made : failingAt(fail, made)
  const input = { workflow, graph, steps, changes, at }
  const line = createChainLine(tx, { projectId: project.id, at })
  let walked = 0
  for (const execution of due) {
    if (walked > 0 && performance.now() - begunAt > maxMs) break
    if (asked.length >= MAX_ASKED_VALUES) break
    walked += 1
    const { number } = execution
    const cancelReason = reasonToCancel(execution, { workflow, project })
    if (cancelReason !== undefined) {
      await cancelActive(tx, { workflow: { id: workflow.id, cancelReason }, number, at })
    } else if (await mayWalk(tx, execution, { ...input, line })) await walk(input, execution)
    if (isHeavy) await tx.yieldToLoop()
  }
  await line.write()
  await writeContacts(tx, changes)
  await changes.write(tx, at)
  const ended = changes.ends()
  tx.afterCommit(() => {
    for (const status of ended) deps.counters.add('pillarbox_executions_ended_total', { status })
  })
  const nextDueAt = await findEarliestDue(tx, { workflowId: workflow.id, after })
  const isCrowded = allowed === 0
  return { walked, tookMs: performance.now() - begunAt, nextDueAt, asked, isCrowded }
}

/**
 * Writes the contacts that steps have changed. These steps are over by now, so a fault is blamed on
 * the first of them.
 */
async function writeContacts(tx: Tx, changes: TurnChanges): Promise<void> {
  try {
    await changes.writeContacts(tx)
  } catch (error) {
    const place = changes.firstChange()
    throw place === undefined ? error : faultOf(place, error)
  }
}

/** Whether a step of the graph has values to render. A graph may have megabytes, so it is searched once. */
function asksForValues(graph: WorkflowGraph): boolean {
  let asks = asking.get(graph)
  if (asks === undefined) {
    asks = graph.steps
      .values()
      .some(({ type, config }) => type === 'UPDATE_CONTACT' && hasTemplates(config.updates ?? {}))
    asking.set(graph, asks)
  }
  return asks
}

/** Returns why an execution is cancelled; undefined for an execution that goes on. */
function reasonToCancel(
  execution: DueExecution,
  { workflow, project }: { workflow: FoundWorkflow; project: Project },
): string | null | undefined {
  if (project.isDisabled) return EXIT_REASONS.projectDisabled
  // The execution was cancelled together with all others, although its row does not say so yet.
  if (execution.number <= workflow.cancelledThrough) return workflow.cancelReason
  return isInLine(execution) && !workflow.isEnabled ? EXIT_REASONS.workflowDisabled : undefined
}

/** Returns whether the execution may walk: it has begun before, or it begins now. */
async function mayWalk(
  tx: Tx,
  execution: DueExecution,
  {
    workflow,
    line,
    changes,
    at,
  }: { workflow: FoundWorkflow; line: ChainLine; changes: TurnChanges; at: number },
): Promise<boolean> {
  if (!isInLine(execution)) return true
  const { id: executionId, contactId, depth, dueAt } = execution
  if ((await line.take(execution)).begins) {
    await appendEvent(tx, startedEvent({ workflow, executionId, contactId, depth, at }))
    return true
  }
  if (dueAt === 0) changes.addFigure('', 'chainDelayed')
  return false
}

function failingAt(place: StepPlace, { begin, resume }: Steps): Steps {
  const isFaulty = ({ execution: { number, ordinal } }: StepCall) =>
    number === place.number && ordinal === place.ordinal
  const failed = async (): Promise<StepOutcome> => ({
    kind: 'failed',
    error: STEP_ERRORS.step_internal_error,
  })
  return {
    begin: (call) => (isFaulty(call) ? failed() : begin(call)),
    resume: (call, open) => (isFaulty(call) ? failed() : resume(call, open)),
  }
}
