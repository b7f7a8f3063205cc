/** Executions that stand at a WEBHOOK step, as the engine leaves them, and the requester. */
import type { TestContext } from 'node:test'
import type { WebhookConfig } from '../../../../../src/features/outreach/workflows/graph/step-config.ts'
import type { WorkflowNotice } from '../../../../../src/features/outreach/workflows/notifier.ts'
import { startRequester } from '../../../../../src/features/outreach/workflows/requests/requester.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import {
  type WorkflowStepExecution,
  workflowExecutions,
  workflowRequests,
  workflowStepExecutions,
  workflowSteps,
  workflows,
} from '../../../../../src/store/schema/workflows.ts'
import { addProject, openTestCore, type TestCore, type TestCoreOptions } from '../../../../core.ts'
import { watchWrites } from '../../../ground/watch-writes.ts'

export type RequestStage = {
  core: TestCore
  projectId: string
  requester: ReturnType<typeof startRequester>
  /** The notices of the requester. */
  due: WorkflowNotice[]
  begin(
    config: WebhookConfig,
    given?: {
      data?: Record<string, string>
      context?: Record<string, unknown> | null
      projectId?: string
    },
  ): Promise<Begun>
  step(begun: Begun): Promise<WorkflowStepExecution>
  /** Resolves when the step fulfils the test. */
  until(begun: Begun, test: (row: WorkflowStepExecution) => boolean): Promise<WorkflowStepExecution>
  countRequests(): Promise<number>
}

export type Begun = {
  workflowId: string
  number: number
  executionId: string
  contactId: string
  stepExecutionId: string
}

export async function openRequests(
  t: Pick<TestContext, 'after'>,
  options: TestCoreOptions = {},
): Promise<RequestStage> {
  const core = await openTestCore(t, options)
  const nextWrite = watchWrites(core)
  const { id: projectId } = await addProject(core)
  const due: WorkflowNotice[] = []
  const unlisten = core.workflowNotifier.listen((notice) => {
    if (notice.kind === 'due') due.push(notice)
  })
  const requester = startRequester(core)
  t.after(async () => {
    unlisten()
    await requester.stop(0)
  })
  const step = async ({ number }: Begun) => {
    const isIt = eq(workflowStepExecutions.executionNumber, number)
    const [row] = await core.store.read.select().from(workflowStepExecutions).where(isIt)
    return row!
  }
  return {
    ...{ core, projectId, requester, due, step },
    begin: (config, given) => begin(core, { projectId, config, ...given }),
    async until(begun, test) {
      for (;;) {
        const next = nextWrite()
        const row = await step(begun)
        if (test(row)) return row
        await next
      }
    },
    countRequests: () => core.store.read.$count(workflowRequests),
  }
}

type NewExecution = {
  projectId: string
  config: WebhookConfig
  data?: Record<string, string>
  context?: Record<string, unknown> | null
}

let people = 0

async function begin(
  { store, now, workflowNotifier }: TestCore,
  { projectId, config, data = { name: 'Ann' }, context = { order: 7 } }: NewExecution,
): Promise<Begun> {
  const [workflowId, stepId, contactId, executionId] = [newId(), newId(), newId(), newId()]
  const stepExecutionId = newId()
  const at = now()
  people += 1
  const address = `person${people}@people.test`
  const stamps = { createdAt: at, updatedAt: at }
  return store.write(async (tx) => {
    await tx
      .insert(contacts)
      .values({ id: contactId, projectId, address, data, subscribed: true, ...stamps })
    await tx.insert(workflows).values({ id: workflowId, projectId, name: 'Orders', ...stamps })
    await tx.insert(workflowSteps).values({
      ...{ id: stepId, workflowId, projectId, type: 'WEBHOOK', name: 'Tell', ...stamps },
      ...{ position: { x: 0, y: 0 }, config: config as unknown as Record<string, unknown> },
    })
    const [execution] = await tx
      .insert(workflowExecutions)
      .values({
        ...{ id: executionId, projectId, workflowId, contactId, status: 'WAITING', context },
        ...{ currentStepId: stepId, dueAt: null, startedAt: at, updatedAt: at },
      })
      .returning({ number: workflowExecutions.number })
    const number = execution!.number
    await tx.insert(workflowStepExecutions).values({
      ...{ executionNumber: number, ordinal: 0, id: stepExecutionId, stepId },
      ...{ status: 'WAITING', startedAt: at },
    })
    await tx.insert(workflowRequests).values({
      ...{ executionNumber: number, workflowId, projectId, stepId, stepExecutionId },
      ...{ ordinal: 0, dueAt: 0 },
    })
    tx.afterCommit(() =>
      workflowNotifier.notify({ kind: 'request', workflowId, projectId, dueAt: at }),
    )
    return { workflowId, number, executionId, contactId, stepExecutionId }
  })
}

export function cancelAll({ core }: RequestStage, { workflowId, number }: Begun): Promise<unknown> {
  return core.store.write((tx) =>
    tx.run(sql`update workflows set cancelled_through = ${number} where id = ${workflowId}`),
  )
}
