/**
 * WEBHOOK: leaves a row in `workflow_requests`. `features/outreach/workflows/requests` makes the
 * request outside the transaction and writes its end into the row of the step, where this step finds
 * it.
 */
import { workflowRequests } from '../../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import type { StepOf } from '../../graph/step-config.ts'
import type { WorkflowLane, WorkflowNotifier } from '../../notifier.ts'
import { NOW, type OpenStep, type StepCall, type StepOutcome } from '../walk.ts'

type WebhookCall = StepCall<StepOf<'WEBHOOK'>>

const insertRequest = statement((db) =>
  db
    .insert(workflowRequests)
    .values({
      executionNumber: parameter('executionNumber'),
      workflowId: parameter('workflowId'),
      projectId: parameter('projectId'),
      stepId: parameter('stepId'),
      stepExecutionId: parameter('stepExecutionId'),
      ordinal: parameter('ordinal'),
      dueAt: parameter('dueAt'),
    })
    .onConflictDoUpdate({
      // Left by a step that failed by a fault of the program, and is tried again.
      target: workflowRequests.executionNumber,
      set: {
        stepId: parameter('stepId'),
        stepExecutionId: parameter('stepExecutionId'),
        ordinal: parameter('ordinal'),
        dueAt: parameter('dueAt'),
        attempts: 0,
        request: null,
      },
    }),
)

export async function beginWebhook(
  { workflowNotifier }: { workflowNotifier: WorkflowNotifier },
  tx: Tx,
  { call, lane }: { call: WebhookCall; lane: WorkflowLane },
): Promise<StepOutcome> {
  const { step, stepExecutionId, execution } = call
  await tx.execute(insertRequest, {
    ...lane,
    executionNumber: execution.number,
    stepId: step.id,
    stepExecutionId,
    ordinal: execution.ordinal,
    dueAt: NOW,
  })
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'request', dueAt: NOW, ...lane }))
  return { kind: 'waits', dueAt: null }
}

export function resumeWebhook({ step: { config } }: WebhookCall, open: OpenStep): StepOutcome {
  const output = open.output ?? {}
  if (open.status === 'COMPLETED') return { kind: 'done', output }
  if (open.status !== 'FAILED') return { kind: 'waits', dueAt: null, output }
  const error = open.error ?? 'the webhook failed'
  return { kind: 'failed', output, error, goesOn: config.onFailure === 'continue' }
}
