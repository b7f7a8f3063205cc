/**
 * What a turn of the engine has done, collected while it walks and written at its end in a few
 * statements: step rows, figures, positions and ends of executions, events.
 */
import { eachOf, jsonItem } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { ExecutionStatus, StepExecutionStatus } from '../../../store/schema/words.ts'
import { type WorkflowExecution, workflowExecutions } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { appendEvents, type NewEvent } from '../../events/append.ts'
import { addFigures, durationBucket, type FigureChange } from '../figures.ts'

/** A row of `workflow_step_executions`. */
export type StepRow = {
  executionNumber: number
  ordinal: number
  id: string
  stepId: string
  status: StepExecutionStatus
  scheduledFor: number | null
  executeAfter: number | null
  input: Record<string, unknown> | null
  output: Record<string, unknown> | null
  error: string | null
  startedAt: number
  completedAt: number | null
}

/** The new position of an execution. */
export type Position = Pick<
  WorkflowExecution,
  | 'number'
  | 'status'
  | 'currentStepId'
  | 'exitReason'
  | 'context'
  | 'dueAt'
  | 'stepsDone'
  | 'completedAt'
>

export type TurnChanges = {
  addStep(row: StepRow): void
  addFigure(subject: string, figure: string): void
  addPosition(position: Position): void
  /** An event that an execution makes is one deeper than the execution. */
  addEvent(event: NewEvent & { depth: number }): void
  /** The statuses of the executions that end. */
  ends(): ExecutionStatus[]
  write(tx: Tx, at: number): Promise<void>
}

const item = (index: number) => jsonItem(sql`row.value`, index)

const saveSteps = statement(
  () => sql`insert into workflow_step_executions (execution_number, ordinal, id, step_id, status,
      scheduled_for, execute_after, input, output, error, started_at, completed_at)
    select ${item(0)}, ${item(1)}, ${item(2)}, ${item(3)}, ${item(4)}, ${item(5)}, ${item(6)},
      ${item(7)}, ${item(8)}, ${item(9)}, ${item(10)}, ${item(11)}
    from ${eachOf(parameter('rows'))} as row where true
    on conflict (execution_number, ordinal) do update set status = excluded.status,
      scheduled_for = coalesce(excluded.scheduled_for, scheduled_for),
      execute_after = coalesce(excluded.execute_after, execute_after),
      input = coalesce(excluded.input, input), started_at = excluded.started_at,
      output = excluded.output, error = excluded.error, completed_at = excluded.completed_at`,
)

/** Runs once for each: no trigger reads this table, so that a statement over a list would cost more. */
const savePosition = statement((db) =>
  db
    .update(workflowExecutions)
    .set({
      status: parameter('status'),
      currentStepId: parameter('currentStepId'),
      exitReason: parameter('exitReason'),
      context: parameter('context'),
      dueAt: parameter('dueAt'),
      stepsDone: parameter('stepsDone'),
      completedAt: parameter('completedAt'),
      updatedAt: parameter('at'),
    })
    .where(sql`${workflowExecutions.number} = ${parameter('number')}`),
)

export function createTurnChanges(workflowId: string): TurnChanges {
  const steps: unknown[][] = []
  const figures = new Map<string, FigureChange>()
  const positions: Position[] = []
  const events: NewEvent[] = []

  function addFigure(subject: string, figure: string): void {
    const key = `${subject} ${figure}`
    const known = figures.get(key)
    if (known === undefined) figures.set(key, [subject, figure, 1])
    else known[2] += 1
  }

  return {
    addFigure,
    addStep(row) {
      steps.push(toList(row))
      const { status, stepId, startedAt, completedAt } = row
      if (status === 'FAILED') addFigure(stepId, 'failed')
      if (status === 'SKIPPED') addFigure(stepId, 'skipped')
      if (status !== 'COMPLETED') return
      addFigure(stepId, 'completed')
      addFigure(stepId, `took ${durationBucket((completedAt ?? startedAt) - startedAt)}`)
    },
    addPosition: (position) => positions.push(position),
    addEvent: (event) => events.push(event),
    ends: () =>
      positions.flatMap(({ status, completedAt }) => (completedAt === null ? [] : status)),
    async write(tx, at) {
      if (steps.length > 0) await tx.execute(saveSteps, { rows: JSON.stringify(steps) })
      await tx.executeEach(
        savePosition,
        positions.map((position) => ({ ...position, at })),
      )
      await addFigures(tx, workflowId, [...figures.values()])
      if (events.length > 0) await appendEvents(tx, events)
    },
  }
}

function toList(row: StepRow): unknown[] {
  return [
    row.executionNumber,
    row.ordinal,
    row.id,
    row.stepId,
    row.status,
    row.scheduledFor,
    row.executeAfter,
    row.input === null ? null : JSON.stringify(row.input),
    row.output === null ? null : JSON.stringify(row.output),
    row.error,
    row.startedAt,
    row.completedAt,
  ]
}
