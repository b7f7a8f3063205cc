/**
 * The engine of workflows: works off the due executions in turns, each for one workflow, a few
 * turns at the same time. A server that was killed goes on where it stopped. Executions that sleep
 * cost nothing but their rows.
 *
 * The engine keeps a copy in memory of the index `workflow_executions_due`: the workflows with
 * executions that are or will be due, and when. A workflow in this copy may have nothing due by the
 * time it is taken, but no workflow is missing: code that makes an execution due notifies the
 * engine. Projects take turns, and within a project its workflows do: a workflow that was taken
 * goes to the end.
 */
import { describeError } from '../../../../base/errors.ts'
import { createFairQueue } from '../../../../turns/fair-queue.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import { createTimetable } from '../../../mail/messages/queue/lanes.ts'
import type { TurnKey, WorkflowNotice } from '../notifier.ts'
import { listDueWorkflows } from './due.ts'
import { createGraphs } from './graphs.ts'
import { createStepValues } from './step-values.ts'
import type { StepDeps } from './steps/steps.ts'
import { type TurnDeps, type TurnResult, takeTurn } from './turn.ts'
import { createTurnSizes, type TurnSizes } from './turn-sizes.ts'

export type EngineDeps = Omit<StepDeps, 'values'> &
  Pick<Base, 'disk' | 'outbound' | 'config' | 'keyring'>

/** The most turns at the same time; their commits share one sync of the disk. */
const MAX_TURNS = 4
/** How long the engine waits after a failure, and while the disk is full. */
const RETRY_MS = 1_000
/** The longest time that the engine waits, because the clock may jump. */
const MAX_WAIT_MS = 10_000

/**
 * `isRendering`: the turn itself is over, and the workflow's next turn waits for rendered values.
 * Such a turn does not count for `MAX_TURNS`.
 */
type RunningTurn = { ended: Promise<void>; dueAt: number | undefined; isRendering: boolean }
type Entered = { key: TurnKey; turn: RunningTurn }

type EngineState = {
  deps: TurnDeps & Pick<Base, 'disk'>
  due: DueWorkflows
  running: Map<string, RunningTurn>
  sizes: TurnSizes
  /** Begins the turns that may begin. */
  wake: () => void
}

type DueWorkflows = {
  /** Records that an execution of the workflow is due at `dueAt`; an earlier known time stays. */
  addDueAt(key: TurnKey, dueAt: number): void
  /** Removes and returns the next workflow with due executions. */
  take(now: number): TurnKey | undefined
  /** When the next workflow is due; undefined when no workflow waits. */
  nextDueAt(): number | undefined
}

type KnownWorkflow = { key: TurnKey; dueAt: number }

export async function startEngine(deps: EngineDeps): Promise<{ stop(): Promise<void> }> {
  const state: EngineState = {
    deps: { ...deps, graphs: createGraphs(), values: createStepValues(deps) },
    due: createDueWorkflows(),
    running: new Map(),
    sizes: createTurnSizes(),
    wake: () => loop.wake(),
  }
  const loop: Loop = startLoop({
    run: () => advance(state),
    wakes: [
      () => deps.workflowNotifier.listen((notice) => take(state, notice)),
      () => deps.store.onExternalChange(() => void readDue(state)),
    ],
    firstWaitMs: Number.POSITIVE_INFINITY,
    maxWaitMs: MAX_WAIT_MS,
  })
  await readDue(state)
  return {
    async stop() {
      await loop.stop()
      await Promise.all([...state.running.values()].map(({ ended }) => ended))
    },
  }
}

async function readDue(state: EngineState): Promise<void> {
  const { store, log } = state.deps
  try {
    for (const { dueAt, ...key } of await listDueWorkflows(store.read)) add(state, key, dueAt)
  } catch (error) {
    log.error({ error: describeError(error) }, 'the due times of workflows could not be read')
  }
  state.wake()
}

function take(state: EngineState, notice: WorkflowNotice): void {
  if (notice.kind !== 'due') return
  const { workflowId, projectId, dueAt } = notice
  add(state, { workflowId, projectId }, dueAt)
  state.wake()
}

function add({ due, running }: EngineState, key: TurnKey, dueAt: number): void {
  const turn = running.get(key.workflowId)
  if (turn === undefined) due.addDueAt(key, dueAt)
  else turn.dueAt = Math.min(turn.dueAt ?? dueAt, dueAt)
}

/** Begins turns while there is room. Returns how many ms to wait for the next due workflow. */
function advance(state: EngineState): number | undefined {
  const { deps, due } = state
  // All turns are entered before the first one begins, because their number decides how many
  // executions each takes.
  const entered: Entered[] = []
  while (countTurns(state) < MAX_TURNS) {
    const key = due.take(deps.now())
    if (key === undefined) break
    entered.push(enter(state, key))
  }
  for (const { key, turn } of entered) begin(state, key, turn)
  if (countTurns(state) >= MAX_TURNS) return undefined
  const nextAt = due.nextDueAt()
  return nextAt === undefined ? undefined : Math.max(1, nextAt - deps.now())
}

function countTurns({ running }: EngineState): number {
  return running.values().reduce((count, { isRendering }) => count + (isRendering ? 0 : 1), 0)
}

function enter(state: EngineState, key: TurnKey): Entered {
  const turn: RunningTurn = { ended: Promise.resolve(), dueAt: undefined, isRendering: false }
  state.running.set(key.workflowId, turn)
  return { key, turn }
}

function begin(state: EngineState, key: TurnKey, turn: RunningTurn): void {
  turn.ended = run(state, key).then(({ nextDueAt, rendering }) => {
    if (rendering === undefined) return end(state, key, nextDueAt)
    turn.isRendering = true
    // A stop does not wait for the rendering: after the next start, a turn asks for missing values
    // again.
    void rendering.then((isDone) => end(state, key, isDone ? nextDueAt : retryAt(state)))
    state.wake()
  })
}

function end(state: EngineState, key: TurnKey, nextDueAt: number | undefined): void {
  const turn = state.running.get(key.workflowId)
  state.running.delete(key.workflowId)
  const dueAt = [nextDueAt, turn?.dueAt].filter((at) => at !== undefined)
  if (dueAt.length > 0) state.due.addDueAt(key, Math.min(...dueAt))
  state.wake()
}

function retryAt({ deps }: EngineState): number {
  return deps.now() + RETRY_MS
}

/**
 * Makes a turn. Returns when the workflow wants its next turn, and the rendering that the next turn
 * waits for.
 */
async function run(
  state: EngineState,
  key: TurnKey,
): Promise<Pick<TurnResult, 'nextDueAt' | 'rendering'>> {
  const { deps, sizes } = state
  // No turn is made while the disk is full, because it could send an email, which needs space.
  if (deps.disk.isLow()) return { nextDueAt: retryAt(state) }
  const size = sizes.next(key.workflowId, countTurns(state))
  try {
    const { walked, tookMs, ...next } = await takeTurn(deps, key, size)
    const isAll = next.nextDueAt === undefined || next.nextDueAt > deps.now()
    sizes.ended(key.workflowId, { ...size, walked, tookMs, isAll })
    return next
  } catch (error) {
    const facts = { workflowId: key.workflowId, error: describeError(error) }
    deps.log.error(facts, 'executions could not go on; they are tried again')
    return { nextDueAt: retryAt(state) }
  }
}

export function createDueWorkflows(): DueWorkflows {
  const known = new Map<string, KnownWorkflow>()
  const waiting = createTimetable<KnownWorkflow>()
  /** The due workflows. Projects take turns. */
  const due = createFairQueue<TurnKey>()
  /** The ids of due workflows. */
  const dueIds = new Set<string>()
  /**
   * Whether an entry of the timetable still counts: entries are replaced and never changed, so one
   * that `known` does not have is stale.
   */
  const isCurrent = (entry: KnownWorkflow) => known.get(entry.key.workflowId) === entry

  function makeDue(now: number): void {
    for (const entry of waiting.takeUntil(now)) {
      if (!isCurrent(entry)) continue
      const { key } = entry
      known.delete(key.workflowId)
      dueIds.add(key.workflowId)
      due.add(key.projectId, key)
    }
  }

  return {
    addDueAt(key, dueAt) {
      if (dueIds.has(key.workflowId)) return
      const entry = known.get(key.workflowId)
      if (entry !== undefined && entry.dueAt <= dueAt) return
      const added = { key, dueAt }
      known.set(key.workflowId, added)
      waiting.add(dueAt, added)
    },
    take(now) {
      makeDue(now)
      const key = due.take()
      if (key !== undefined) dueIds.delete(key.workflowId)
      return key
    },
    nextDueAt: () => (due.isEmpty() ? waiting.next(isCurrent) : 0),
  }
}
