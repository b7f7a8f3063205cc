/** Puts the only execution of a database where an engine would have brought it. */
import type { Core } from '../../../../src/core/core.ts'
import { addFigures, durationBucket } from '../../../../src/features/outreach/workflows/figures.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
  workflowTransitions,
} from '../../../../src/store/schema/workflows.ts'

type Deps = Pick<Core, 'store' | 'now'>

/** It has passed its TRIGGER and sleeps at the step behind it. */
export async function sleepAtDelay({ store, now }: Deps): Promise<void> {
  const at = now()
  await store.write(async (tx) => {
    const execution = await tx.select().from(workflowExecutions).get()
    const transition = await tx
      .select()
      .from(workflowTransitions)
      .where(eq(workflowTransitions.fromStepId, execution?.currentStepId ?? ''))
      .get()
    if (execution === undefined || transition === undefined) throw new TypeError('no execution')
    const { id, workflowId, fromStepId, toStepId } = transition
    const row = { executionNumber: execution.number, startedAt: at }
    await tx.insert(workflowStepExecutions).values([
      {
        ...{ ...row, id: newId(), ordinal: 0, stepId: fromStepId, completedAt: at },
        ...{ status: 'COMPLETED', output: { triggered: true } },
      },
      {
        ...{ ...row, id: newId(), ordinal: 1, stepId: toStepId },
        ...{ status: 'WAITING', scheduledFor: at + 1 },
      },
    ])
    await tx
      .update(workflowExecutions)
      .set({ status: 'WAITING', currentStepId: toStepId, stepsDone: 1, dueAt: at + 1 })
    await addFigures(tx, workflowId, [
      [fromStepId, 'completed', 1],
      [fromStepId, `took ${durationBucket(0)}`, 1],
      [id, 'taken', 1],
    ])
  })
}

/** It has failed at the step where it was. */
export async function failExecution({ store, now }: Deps): Promise<void> {
  await store.write(async (tx) => {
    const end = { status: 'FAILED' as const, completedAt: now() }
    await tx.update(workflowStepExecutions).set(end).where(eq(workflowStepExecutions.ordinal, 1))
    await tx.update(workflowExecutions).set({ ...end, dueAt: null })
  })
}
