/**
 * Walks one execution from step to step until it waits, ends, or has made 100 steps: then it goes on
 * in another turn, behind the others.
 *
 *   done     the step is COMPLETED; the first fitting transition is followed, without one the
 *            execution is COMPLETED
 *   failed   the step is FAILED, and so is the execution, which stays at it for a retry. With
 *            `goesOn`, the execution follows the transition all the same
 *   skipped  the step is SKIPPED with a reason, and the execution goes on as after `done`
 *   waits    the step is WAITING, and so is the execution
 *   exits    the step is COMPLETED, the execution EXITED
 *   later    the step is not begun: what it needs is made outside the transaction, and a later turn begins it
 *
 * All of it happens in the transaction of the turn.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { isTransientDatabaseError } from '../../../../store/database-error.ts'
import { newId } from '../../../../store/ids.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ExecutionStatus } from '../../../../store/schema/words.ts'
import type {
  WorkflowExecution,
  WorkflowStepExecution,
} from '../../../../store/schema/workflows.ts'
import { EXIT_REASONS } from '../exit-reasons.ts'
import { nextTransition, type StepResult, type WorkflowGraph } from '../graph/graph.ts'
import type { TypedStep } from '../graph/step-config.ts'
import type { StepPlace, TurnChanges } from './turn-changes.ts'

const MAX_STEPS_PER_TURN = 100

/** The limit of an execution's context, which is also that of a contact's data. */
export const MAX_CONTEXT_BYTES = 64 * 1024

/** `due_at` of immediate work: in the past even when the clock is set back. */
export const DUE_AT_ONCE = 0

/** A due execution with its contact. */
export type DueExecution = Pick<
  WorkflowExecution,
  | 'number'
  | 'id'
  | 'contactId'
  | 'status'
  | 'currentStepId'
  | 'context'
  | 'sourceEventSeq'
  | 'stepsDone'
  | 'startedAt'
  | 'depth'
> & { dueAt: number; contact: Contact; step: OpenStep | null }

/** The row of the current step, if the execution has begun it. */
export type OpenStep = Pick<
  WorkflowStepExecution,
  'id' | 'status' | 'scheduledFor' | 'executeAfter' | 'input' | 'output' | 'error' | 'startedAt'
>

const STATUS_OF = {
  done: 'COMPLETED',
  exits: 'COMPLETED',
  failed: 'FAILED',
  skipped: 'SKIPPED',
  waits: 'WAITING',
} as const

export type StepOutcome = {
  input?: Record<string, unknown>
  output?: Record<string, unknown>
  /** Data that is merged into the context of the execution. */
  context?: Record<string, unknown>
} & (
  | ({ kind: 'done' } & StepResult)
  | { kind: 'failed'; error: string; goesOn?: boolean }
  | { kind: 'skipped'; reason: string }
  | { kind: 'waits'; dueAt: number | null; scheduledFor?: number; executeAfter?: number | null }
  | { kind: 'exits'; reason: string }
  | { kind: 'later' }
)

/** The input of a step's function. `contact` includes the changes by the steps before. */
export type StepCall<S extends TypedStep = TypedStep> = {
  step: S
  stepExecutionId: string
  execution: WalkingExecution
  /** The graph that the step is part of. */
  graph: WorkflowGraph
}

/** The state of an execution during a walk. */
export type WalkingExecution = {
  readonly number: number
  readonly id: string
  readonly startedAt: number
  /** Whether an event started the execution, and not a request. */
  readonly isStartedByEvent: boolean
  /**
   * The number of executions that led to this one. The events that this execution makes have one
   * more.
   */
  readonly depth: number
  contact: Contact
  context: Record<string, unknown> | null
  /** The number of the current step among the steps of this execution. */
  ordinal: number
  /**
   * The number of the event that brought the execution here without a pause; null after a pause. A
   * wait that begins now counts the events after this one, so that an event which follows closely
   * is not missed.
   */
  eventSeq: number | null
  /** The ids of the emails that this walk has sent, by step. */
  readonly emailIds: Map<string, string>
}

export type Steps = {
  begin(call: StepCall): Promise<StepOutcome>
  /** Goes on with a step that waited. */
  resume(call: StepCall, open: OpenStep): Promise<StepOutcome>
}

/** The error when a step has thrown, which is a fault of the program. */
export class StepFault extends Error {
  override readonly name = 'StepFault'
  readonly place: StepPlace

  constructor(place: StepPlace, cause: unknown) {
    super('a step of a workflow failed by a fault of the program', { cause })
    this.place = place
  }
}

/**
 * Returns a StepFault for an error in a step, or in the write of its changes. Returns the error
 * itself if a later try may succeed.
 */
export function faultOf(place: StepPlace, error: unknown): unknown {
  return isTransientDatabaseError(error) ? error : new StepFault(place, error)
}

type WalkInput = {
  workflow: { id: string; name: string; projectId: string }
  graph: WorkflowGraph
  steps: Steps
  changes: TurnChanges
  at: number
}

type StepPosition = {
  status: ExecutionStatus
  stepId: string | null
  exitReason?: string
  dueAt?: number | null
}

export async function walk(input: WalkInput, execution: DueExecution): Promise<void> {
  const { graph } = input
  const walker: WalkingExecution = {
    number: execution.number,
    id: execution.id,
    startedAt: execution.startedAt,
    isStartedByEvent: execution.sourceEventSeq !== null,
    depth: execution.depth,
    contact: execution.contact,
    context: execution.context,
    ordinal: execution.stepsDone,
    eventSeq: execution.stepsDone === 0 ? execution.sourceEventSeq : null,
    emailIds: new Map(),
  }
  let stepId = execution.currentStepId
  let open = execution.step
  for (let made = 0; made < MAX_STEPS_PER_TURN; made += 1) {
    const step = stepId === null ? undefined : graph.steps.get(stepId)
    if (step === undefined) {
      skip(input, walker, { stepId, open })
      return save(input, walker, {
        status: 'CANCELLED',
        stepId: null,
        exitReason: EXIT_REASONS.stepRemoved,
      })
    }
    const moved = await makeStep(input, walker, { step, open })
    if ('status' in moved) return save(input, walker, moved)
    stepId = moved.stepId
    open = null
  }
  save(input, walker, { status: 'RUNNING', stepId, dueAt: DUE_AT_ONCE })
}

/** Makes the current step. Returns the next step, or the position at which the execution stays. */
async function makeStep(
  { graph, steps, changes, at }: WalkInput,
  walker: WalkingExecution,
  { step, open }: { step: TypedStep; open: OpenStep | null },
): Promise<{ stepId: string } | StepPosition> {
  const stepExecutionId = open?.id ?? newId()
  const call: StepCall = { step, stepExecutionId, execution: walker, graph }
  // A step that failed and is made again keeps its row and its id.
  const begun = open?.status === 'PENDING' ? null : open
  const outcome = await run(steps, call, begun)
  const { kind } = outcome
  if (kind === 'later') return { status: 'RUNNING', stepId: step.id, dueAt: DUE_AT_ONCE }
  if (outcome.context !== undefined) walker.context = mergeContext(walker.context, outcome.context)
  changes.addStep({
    executionNumber: walker.number,
    ordinal: walker.ordinal,
    id: stepExecutionId,
    stepId: step.id,
    status: STATUS_OF[kind],
    scheduledFor: (kind === 'waits' ? outcome.scheduledFor : null) ?? null,
    executeAfter: (kind === 'waits' ? outcome.executeAfter : null) ?? null,
    input: outcome.input ?? null,
    output: outcome.output ?? null,
    error: kind === 'failed' ? outcome.error : kind === 'skipped' ? outcome.reason : null,
    startedAt: begun?.startedAt ?? at,
    completedAt: kind === 'waits' ? null : at,
  })
  if (kind === 'waits') return { status: 'WAITING', stepId: step.id, dueAt: outcome.dueAt }
  if (kind === 'failed' && outcome.goesOn !== true) return { status: 'FAILED', stepId: step.id }
  walker.ordinal += 1
  if (kind === 'exits') return { status: 'EXITED', stepId: null, exitReason: outcome.reason }
  const transition = nextTransition(graph, step.id, kind === 'done' ? outcome : {})
  if (transition === undefined) return { status: 'COMPLETED', stepId: null }
  changes.addFigure(transition.id, 'taken')
  return { stepId: transition.toStepId }
}

async function run(steps: Steps, call: StepCall, open: OpenStep | null): Promise<StepOutcome> {
  try {
    return open === null ? await steps.begin(call) : await steps.resume(call, open)
  } catch (error) {
    const { number, ordinal } = call.execution
    throw faultOf({ number, ordinal }, error)
  }
}

/**
 * Merges data into the context. Data that would make the context too large is only in the output of
 * its step.
 */
function mergeContext(
  context: Record<string, unknown> | null,
  data: Record<string, unknown>,
): Record<string, unknown> | null {
  const merged = { ...context, ...data }
  return Buffer.byteLength(JSON.stringify(merged)) > MAX_CONTEXT_BYTES ? context : merged
}

/** Skips a step that was removed while the execution waited at it. */
function skip(
  { changes, at }: WalkInput,
  { number, ordinal }: WalkingExecution,
  { stepId, open }: { stepId: string | null; open: OpenStep | null },
): void {
  if (open === null || stepId === null) return
  const { id, scheduledFor, executeAfter, input, output, error, startedAt } = open
  const times = { scheduledFor, executeAfter, startedAt, completedAt: at }
  const facts = { id, stepId, input, output, error, status: 'SKIPPED' } as const
  changes.addStep({ executionNumber: number, ordinal, ...facts, ...times })
}

function save(
  { workflow, changes, at }: WalkInput,
  walker: WalkingExecution,
  { status, stepId, exitReason = '', dueAt = null }: StepPosition,
): void {
  const isActive = status === 'RUNNING' || status === 'WAITING'
  changes.addPosition({
    number: walker.number,
    status,
    currentStepId: stepId,
    exitReason: exitReason === '' ? null : exitReason,
    context: walker.context,
    dueAt,
    stepsDone: walker.ordinal,
    completedAt: isActive ? null : at,
  })
  if (isActive || status === 'CANCELLED') return
  changes.addEvent({
    projectId: workflow.projectId,
    name: 'workflow.completed',
    contactId: walker.contact.id,
    emailId: null,
    data: {
      workflowId: workflow.id,
      workflowName: workflow.name,
      executionId: walker.id,
      status,
      exitReason: exitReason === '' ? null : exitReason,
      startedAt: formatInstant(walker.startedAt),
    },
    at,
    depth: walker.depth + 1,
  })
}
