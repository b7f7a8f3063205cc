/**
 * The steps of a workflow, for the walks of one turn: the table of their functions, and the short ones themselves.
 *
 * DELAY: the execution goes on after a span of minutes, hours or days.
 *
 * WEBHOOK: leaves a row in `workflow_requests`. `requests/` makes the request outside the
 * transaction and writes its result into the row of the step, where the step finds it when it is
 * resumed.
 *
 * UPDATE_CONTACT: merges keys into the data of the contact, and may set `subscribed`. It never
 * subscribes a person who left. Texts in the values are templates (`step-values.ts`).
 */
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from '../../../../../base/clock.ts'
import { AppError } from '../../../../../base/errors.ts'
import type { Project } from '../../../../../store/schema/accounts.ts'
import type { Contact } from '../../../../../store/schema/contacts.ts'
import { type Workflow, workflowRequests } from '../../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import type { Base } from '../../../../ground/base.ts'
import { mergeAsGiven } from '../../../../people/contacts/write/data.ts'
import { writeContact } from '../../../../people/contacts/write/set-subscribed.ts'
import { endWishOfProject, hasLeft, recordWishOfProject } from '../../../../people/wishes/wishes.ts'
import type {
  DelayConfig,
  StepOf,
  TypedStep,
  UpdateContactConfig,
} from '../../graph/step-config.ts'
import type { TurnKey, WorkflowNotifier } from '../../notifier.ts'
import { STEP_ERRORS, UNNAMED_EXIT } from '../../reasons.ts'
import { type AskedValues, hasTemplates, isOf, type StepValues } from '../step-values.ts'
import type { TurnChanges } from '../turn-changes.ts'
import { DUE_AT_ONCE, type OpenStep, type StepCall, type StepOutcome, type Steps } from '../walk.ts'
import { branch } from './condition.ts'
import { createTemplatePlans, type SendEmailDeps, sendEmail } from './send-email.ts'
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
      // A row may be left over: the step failed by a fault of the program, and is now tried again.
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
      const reason = step.config.reason ?? UNNAMED_EXIT
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

/** Ends the delay, or lets an execution that was woken too early sleep on. */
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
    dueAt: DUE_AT_ONCE,
  })
  tx.afterCommit(() => workflowNotifier.notify({ kind: 'request', dueAt: DUE_AT_ONCE, ...key }))
  return { kind: 'waits', dueAt: null }
}

function resumeWebhook({ step: { config } }: WebhookCall, open: OpenStep): StepOutcome {
  const output = open.output ?? {}
  if (open.status === 'COMPLETED') return { kind: 'done', output }
  if (open.status !== 'FAILED') return { kind: 'waits', dueAt: null, output }
  const error = open.error ?? 'the webhook failed'
  return { kind: 'failed', output, error, goesOn: config.onFailure === 'continue' }
}

type UpdateCall = StepCall<StepOf<'UPDATE_CONTACT'>>

type UpdateInput = {
  call: UpdateCall
  workflow: { id: string }
  at: number
  ask(values: AskedValues): void
  changes: TurnChanges
}

export async function updateContactOfStep(
  { values: stepValues }: { values: StepValues },
  tx: Tx,
  { call, workflow, at, ask, changes }: UpdateInput,
): Promise<StepOutcome> {
  const { step, execution } = call
  const { updates: given = {}, subscriptionAction = 'none' } = step.config
  const updates = hasTemplates(given)
    ? findRendered(stepValues, call, { workflowId: workflow.id, values: given, ask })
    : given
  if (updates === undefined) return { kind: 'later' }
  if (updates === 'too heavy') {
    const error = STEP_ERRORS.step_templates_too_heavy
    return { kind: 'failed', input: { updates: given, subscriptionAction }, error }
  }
  const input = { updates, subscriptionAction }
  const before = execution.contact
  const depth = execution.depth + 1
  const isKept =
    subscriptionAction === 'subscribe' && !before.subscribed && (await hasLeft(tx, before))
  const applied = isKept ? ({ updates, subscriptionAction: 'none' } as const) : input
  const contact = changed(before, applied, at)
  if (typeof contact === 'string') return { kind: 'failed', input, error: contact }
  if (subscriptionAction === 'unsubscribe' && !before.subscribed) {
    await recordWishOfProject(tx, { contactId: before.id, at })
  }
  if (contact.subscribed && !before.subscribed) await endWishOfProject(tx, contact)
  if (contact.subscribed !== before.subscribed) {
    await writeContact(tx, { before, contact, reason: 'workflow', depth })
  }
  const { number, ordinal } = execution
  if (contact !== before) changes.addContact(contact, depth, { number, ordinal })
  execution.contact = contact
  const { data: newData, subscribed } = contact
  const remark = isKept ? { remark: 'the person left, so the contact stays unsubscribed' } : {}
  const output = { updated: true, ...input, newData, subscribed, ...remark }
  return { kind: 'done', input, output }
}

/**
 * Returns the rendered values of the step. If there are none, asks for them and returns undefined.
 */
function findRendered(
  stepValues: StepValues,
  { execution }: UpdateCall,
  {
    workflowId,
    values,
    ask,
  }: { workflowId: string; values: Record<string, unknown> } & Pick<UpdateInput, 'ask'>,
): Record<string, unknown> | 'too heavy' | undefined {
  const { id, address, subscribed, data } = execution.contact
  const facts = { contact: { id, address, subscribed, data }, context: execution.context, values }
  const place = { executionNumber: execution.number, ordinal: execution.ordinal }
  const found = stepValues.find({ workflowId, ...place })
  // A wait after this step begins at the event of the walk that asked for the values, so that no
  // event in between is missed.
  execution.eventSeq ??= found?.asked.eventSeq ?? null
  if (found !== undefined && isOf(found, facts)) return found.values
  ask({ ...facts, ...place, eventSeq: execution.eventSeq })
  return undefined
}

/**
 * Returns the contact after the change (the same object if nothing differs), or the text that says
 * why the change is refused.
 */
function changed(
  contact: Contact,
  { updates, subscriptionAction }: Required<UpdateContactConfig>,
  at: number,
): Contact | string {
  try {
    const data = mergeAsGiven(contact.data, updates)
    const subscribed =
      subscriptionAction === 'none' ? contact.subscribed : subscriptionAction === 'subscribe'
    if (data === contact.data && subscribed === contact.subscribed) return contact
    return { ...contact, data, subscribed, updatedAt: at }
  } catch (error) {
    if (error instanceof AppError && error.fields?.[0]) return error.fields[0].message
    throw error
  }
}
