/** Executions that stand somewhere, without an engine. */
import { newId } from '../../../../../src/store/ids.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import type { ExecutionStatus } from '../../../../../src/store/schema/words.ts'
import {
  workflowExecutions,
  workflowStepExecutions,
} from '../../../../../src/store/schema/workflows.ts'
import type { TestCore } from '../../../../core.ts'

type Standing = {
  projectId: string
  workflowId: string
  stepId: string
  /** WAITING if absent. */
  status?: ExecutionStatus
}

/** Adds an execution of a new contact, with a row of its step. Returns its number. */
export async function addExecution({ store }: TestCore, standing: Standing): Promise<number> {
  const [number = 0] = await addExecutions({ store }, standing, 1)
  return number
}

export async function addExecutions(
  { store }: Pick<TestCore, 'store'>,
  { projectId, workflowId, stepId, status = 'WAITING' }: Standing,
  count: number,
): Promise<number[]> {
  const isActive = status === 'WAITING' || status === 'RUNNING'
  const at = 1_000
  const times = { startedAt: at, updatedAt: at, completedAt: isActive ? null : at }
  return store.write(
    async (tx) => {
      const numbers: number[] = []
      for (let index = 0; index < count; index += 1) {
        const contactId = newId()
        await tx.insert(contacts).values({
          ...{ id: contactId, projectId, address: `${contactId}@people.test`, subscribed: true },
          ...{ createdAt: at, updatedAt: at },
        })
        const row = await tx
          .insert(workflowExecutions)
          .values({
            ...{ id: newId(), projectId, workflowId, contactId, status },
            ...{ currentStepId: isActive ? stepId : null, ...times },
          })
          .returning()
          .get()
        numbers.push(row.number)
        await tx.insert(workflowStepExecutions).values({
          ...{ executionNumber: row.number, ordinal: 0, id: newId(), stepId },
          ...{ status: isActive ? 'WAITING' : 'COMPLETED', startedAt: at },
          completedAt: times.completedAt,
        })
      }
      return numbers
    },
    { heavyFor: projectId },
  )
}
