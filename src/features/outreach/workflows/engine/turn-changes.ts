/**
 * Collects the changes that a turn of the engine makes while it walks, and writes them at its end
 * in a few statements: step rows, figures, positions and ends of executions, data of contacts,
 * events. The statements that steps run meanwhile read none of these rows.
 */
import { sql } from '../../../../store/drizzle.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { ExecutionStatus, StepExecutionStatus } from '../../../../store/schema/words.ts'
import {
  type WorkflowExecution,
  workflowExecutions,
  workflowStepExecutions,
} from '../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { appendEvents, type NewEvent } from '../../../ground/events/append.ts'
import { writeContactData } from '../../../people/contacts/write/update.ts'
import { recordCausedChanges } from '../../../people/segments/caused-changes.ts'
import { addFigures, durationBucket, type FigureChange } from '../figures.ts'
import type { TurnKey } from '../notifier.ts'

/** A row of `workflow_step_executions`. */
type StepExecutionRow = {
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

/** The columns of an execution's new position. */
type ExecutionPosition = Pick<
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

/** Names a step of an execution: the number of the execution, and the ordinal of the step in it. */
export type StepPlace = { number: number; ordinal: number }

export type TurnChanges = {
  addStep(row: StepExecutionRow): void
  addFigure(subject: string, figure: string): void
  addPosition(position: ExecutionPosition): void
  /**
   * Adds a contact that a step has changed. `depth`: the depth of the events that the change makes.
   */
  addContact(contact: Contact, depth: number, place: StepPlace): void
  /** Adds an event. Its depth is one more than that of the execution that makes it. */
  addEvent(event: NewEvent & { depth: number }): void
  /** Returns the statuses of the executions that have ended. */
  ends(): ExecutionStatus[]
  /** Returns the first step that has changed a contact; undefined if none has. */
  firstChange(): StepPlace | undefined
  /** Writes the changed contacts. Must be called before `write`. */
  writeContacts(tx: Tx): Promise<void>
  write(tx: Tx, at: number): Promise<void>
}

const excluded = (column: string) => sql.raw(`excluded.${column}`)
const orStored = (column: string) => sql.raw(`coalesce(excluded.${column}, ${column})`)

/** Inserts a step row; a step that waited has a row, which is updated. */
const saveStep = statement((db) =>
  db
    .insert(workflowStepExecutions)
    .values({
      executionNumber: parameter('executionNumber'),
      ordinal: parameter('ordinal'),
      id: parameter('id'),
      stepId: parameter('stepId'),
      status: parameter('status'),
      scheduledFor: parameter('scheduledFor'),
      executeAfter: parameter('executeAfter'),
      input: parameter('input'),
      output: parameter('output'),
      error: parameter('error'),
      startedAt: parameter('startedAt'),
      completedAt: parameter('completedAt'),
    })
    .onConflictDoUpdate({
      target: [workflowStepExecutions.executionNumber, workflowStepExecutions.ordinal],
      set: {
        status: excluded('status'),
        scheduledFor: orStored('scheduled_for'),
        executeAfter: orStored('execute_after'),
        input: orStored('input'),
        output: excluded('output'),
        error: excluded('error'),
        startedAt: excluded('started_at'),
        completedAt: excluded('completed_at'),
      },
    }),
)

/**
 * Runs once for each execution: no trigger reads this table, so a statement over a list would cost
 * more.
 */
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

export function createTurnChanges({ workflowId, projectId }: TurnKey): TurnChanges {
  const steps: StepExecutionRow[] = []
  const figures = new Map<string, FigureChange>()
  const positions: ExecutionPosition[] = []
  const contacts = new Map<string, Contact>()
  const depths = new Map<string, number>()
  let firstChange: StepPlace | undefined
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
      steps.push(row)
      const { status, stepId, startedAt, completedAt } = row
      if (status === 'FAILED') addFigure(stepId, 'failed')
      if (status === 'SKIPPED') addFigure(stepId, 'skipped')
      if (status !== 'COMPLETED') return
      addFigure(stepId, 'completed')
      addFigure(stepId, `took ${durationBucket((completedAt ?? startedAt) - startedAt)}`)
    },
    addPosition: (position) => positions.push(position),
    addContact(contact, depth, place) {
      firstChange ??= place
      contacts.set(contact.id, contact)
      depths.set(contact.id, Math.max(depth, depths.get(contact.id) ?? 0))
    },
    addEvent: (event) => events.push(event),
    ends: () =>
      positions.flatMap(({ status, completedAt }) => (completedAt === null ? [] : status)),
    firstChange: () => firstChange,
    async writeContacts(tx) {
      await writeContactData(tx, [...contacts.values()])
      await recordCausedChanges(tx, projectId, depths)
    },
    async write(tx, at) {
      await tx.insertRows(saveStep, steps)
      await tx.executeEach(
        savePosition,
        positions.map((position) => ({ ...position, at })),
      )
      await addFigures(tx, workflowId, [...figures.values()])
      if (events.length > 0) await appendEvents(tx, events)
    },
  }
}
