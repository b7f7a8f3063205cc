/**
 * The steps of a workflow, for the walks of one turn: the table of their functions, and the short ones themselves.
 *
 * DELAY: the execution goes on after a span of minutes, hours or days.
 *
 * WEBHOOK: leaves a row in `workflow_requests`. `requests/` makes the request outside the transaction and writes its
 * end into the row of the step, where this step finds it.
 */
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from '../../../../../base/clock.ts'
import type { Project } from '../../../../../store/schema/accounts.ts'
import { type Workflow, workflowRequests } from '../../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import type { Base } from '../../../../ground/base.ts'
import type { DelayConfig, StepOf, TypedStep } from '../../graph/step-config.ts'
import type { TurnKey, WorkflowNotifier } from '../../notifier.ts'
import type { AskedValues, StepValues } from '../step-values.ts'
import type { TurnChanges } from '../turn-changes.ts'
import { NOW, type OpenStep, type StepCall, type StepOutcome, type Steps } from '../walk.ts'
import { branch } from './condition.ts'
import { createTemplatePlans, type SendEmailDeps, sendEmail } from './send-email.ts'
import { updateContactOfStep } from './update-contact.ts'
import { beginWait, resumeWait } from './wait-for-event.ts'

export type StepDeps = SendEmailDeps &
  Pick<Base, 'now'> & {
    workflowNotifier: WorkflowNotifier
    values: StepValues
  }

type TurnFacts = {
  workflow: Pick<Workflow, 'id' | 'triggerEvent' | 'triggerConfig'>
  project: Project
  at: number
  changes: TurnChanges
  /** Asks for values that a later turn needs. */
  ask(values: AskedValues): void
}

const UNIT_MS = { minutes: MINUTE_MS, hours: HOUR_MS, days: DAY_MS } as const

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
      // A row may be left by a step that failed by a fault of the program, and is tried again.
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

export function createSteps(
  deps: StepDeps,
  tx: Tx,
  { workflow, project, at, ask, changes }: TurnFacts,
): Steps {
  const key = { workflowId: workflow.id, projectId: project.id }
  const plans = createTemplatePlans(deps, project, at)
  const begin: {
    [Type in TypedStep['type']]: (call: StepCall<StepOf<Type>>) => Promise<StepOutcome>
  } = {
    TRIGGER: async () => ({
      kind: 'done',
      output: {
        triggered: true,
        eventName: workflow.triggerEvent,
        timestamp: formatInstant(at),
      },
    }),
    SEND_EMAIL: (call) => sendEmail(deps, tx, { call, plans, workflow, at }),
    DELAY: async (call) => beginDelay(call, at),
    WAIT_FOR_EVENT: (call) => beginWait(tx, call, { workflowId: workflow.id, at }),
    CONDITION: (call) => branch(tx, call),
    WEBHOOK: (call) => beginWebhook(deps, tx, { call, key }),
    UPDATE_CONTACT: (call) => updateContactOfStep(deps, tx, { call, workflow, at, ask, changes }),
    EXIT: async ({ step }) => {
      const reason = step.config.reason ?? 'exit_step'
      return { kind: 'exits', reason, output: { reason } }
    },
  }

  async function resume(call: StepCall, open: OpenStep): Promise<StepOutcome> {
    const { step } = call
    switch (step.type) {
      case 'DELAY':
        return resumeDelay({ ...call, step }, open, at)
      case 'WAIT_FOR_EVENT':
        return resumeWait(tx, { ...call, step }, { open, at })
      case 'WEBHOOK':
        return resumeWebhook({ ...call, step }, open)
      default:
        return { kind: 'failed', error: `a step ${step.type} does not wait` }
    }
  }

  return {
    // The table has a function of the right type for each step; TypeScript does not see that.
    begin: (call) => begin[call.step.type](call as never),
    resume,
  }
}

function beginDelay({ step: { config } }: StepCall<StepOf<'DELAY'>>, at: number): StepOutcome {
  const dueAt = at + Math.round(config.amount * UNIT_MS[config.unit])
  return { kind: 'waits', dueAt, scheduledFor: dueAt, output: describeDelay(config, dueAt) }
}

/** Lets an execution that is woken too early sleep on. */
function resumeDelay(
  { step: { config } }: StepCall<StepOf<'DELAY'>>,
  { scheduledFor }: OpenStep,
  at: number,
): StepOutcome {
  const dueAt = scheduledFor ?? at
  const output = describeDelay(config, dueAt)
  if (dueAt > at) return { kind: 'waits', dueAt, scheduledFor: dueAt, output }
  return { kind: 'done', output }
}

function describeDelay({ amount, unit }: DelayConfig, dueAt: number) {
  return { delayAmount: amount, delayUnit: unit, resumeAt: formatInstant(dueAt) }
}

async function beginWebhook(
  { workflowNotifier }: { workflowNotifier: WorkflowNotifier },
  tx: Tx,
  { call, key }: { call: WebhookCall; key: TurnKey },
): Promise<StepOutcome> {
  const { step, stepExecutionId, execution } = call
  await tx.execute(insertRequest, {
    ...key,
    executionNumber: execution.number,
    stepId: step.id,
    stepExecutionId,
    ordinal: execution.ordinal,
    dueAt: NOW,
  })
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'request', dueAt: NOW, ...key }))
  return { kind: 'waits', dueAt: null }
}

function resumeWebhook({ step: { config } }: WebhookCall, open: OpenStep): StepOutcome {
  const output = open.output ?? {}
  if (open.status === 'COMPLETED') return { kind: 'done', output }
  if (open.status !== 'FAILED') return { kind: 'waits', dueAt: null, output }
  const error = open.error ?? 'the webhook failed'
  return { kind: 'failed', output, error, goesOn: config.onFailure === 'continue' }
}
