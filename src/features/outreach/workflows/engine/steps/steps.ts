/** What each type of step does, for the walks of one turn. */
import { formatInstant } from '../../../../../base/clock.ts'
import type { Project } from '../../../../../store/schema/accounts.ts'
import type { Workflow } from '../../../../../store/schema/workflows.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import type { Base } from '../../../../ground/base.ts'
import type { Step, StepOf } from '../../graph/step-config.ts'
import type { WorkflowNotifier } from '../../notifier.ts'
import type { AskedValues, StepValues } from '../step-values.ts'
import type { TurnChanges } from '../turn-changes.ts'
import type { OpenStep, StepCall, StepOutcome, Steps } from '../walk.ts'
import { branch } from './condition.ts'
import { beginDelay, resumeDelay } from './delay.ts'
import { createTemplatePlans, type SendEmailDeps, sendEmail } from './send-email.ts'
import { updateContact } from './update-contact.ts'
import { beginWait, resumeWait } from './wait-for-event.ts'
import { beginWebhook, resumeWebhook } from './webhook.ts'

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

export function createSteps(
  deps: StepDeps,
  tx: Tx,
  { workflow, project, at, ask, changes }: TurnFacts,
): Steps {
  const lane = { workflowId: workflow.id, projectId: project.id }
  const plans = createTemplatePlans(deps, project, at)
  const begin: { [Type in Step['type']]: (call: StepCall<StepOf<Type>>) => Promise<StepOutcome> } =
    {
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
      WEBHOOK: (call) => beginWebhook(deps, tx, { call, lane }),
      UPDATE_CONTACT: (call) => updateContact(deps, tx, { call, workflow, at, ask, changes }),
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
