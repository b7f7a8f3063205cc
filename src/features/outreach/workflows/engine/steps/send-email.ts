/**
 * SEND_EMAIL: accepts an email of the step's template in the transaction of the turn. An
 * email that may not be sent, because its contact has unsubscribed or its address is suppressed,
 * becomes a row that says so, and the execution goes on. A template or a sender that is missing fails
 * the step, and so does a limit of the project; the execution can be retried.
 *
 * In a workflow that `email.received` starts, mail to the sender of the received message is an
 * answer. All mail of one execution counts as one answer, so that a workflow may send several
 * emails. Mail to another address is no answer, and a suppressed or failed email is none either. An
 * answer beyond the trigger's `answersPerDay` is skipped.
 */
import { DAY_MS, formatInstant } from '../../../../../base/clock.ts'
import { AppError } from '../../../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../../../formats/address/address.ts'
import { unindexed } from '../../../../../store/dialect.ts'
import { sql } from '../../../../../store/drizzle.ts'
import type { Project } from '../../../../../store/schema/accounts.ts'
import type { Workflow } from '../../../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import type { Base } from '../../../../ground/base.ts'
import { RECEIVED } from '../../../../ground/conditions/automatic-mail.ts'
import {
  acceptForContact,
  planTemplate,
  type TemplatePlan,
} from '../../../../mail/messages/accept/accept-for-contact.ts'
import type { AcceptDeps } from '../../../../mail/messages/accept/email-drafts.ts'
import { isSuppressed } from '../../../../mail/messages/outcome/suppression.ts'
import { RESERVED_KEYS } from '../../../../people/contacts/write/data.ts'
import { hasLeft } from '../../../../people/wishes/wishes.ts'
import { receivedOptionsOf } from '../../definition/trigger.ts'
import type { StepOf } from '../../graph/step-config.ts'
import {
  answersSpent,
  STEP_ERRORS,
  suppressedRecipient,
  unsubscribedRecipient,
} from '../../reasons.ts'
import type { StepCall, StepOutcome, WalkingExecution } from '../walk.ts'

export type SendEmailDeps = AcceptDeps & Pick<Base, 'directory' | 'store'>
type SendCall = StepCall<StepOf<'SEND_EMAIL'>>

/** Returns the plan of a turn for a template, or the error because of which there is no plan. */
type TemplatePlans = (templateId: string) => Promise<TemplatePlan | AppError>

/**
 * Counts the answers to the contact. Reads the emails of the contact, and the execution of each
 * email.
 */
const countAnswers = statement<{ answers: number }>(
  () => sql`select count(distinct execution.number) as answers from emails
    join workflow_executions as execution on execution.id = emails.workflow_execution_id
    where emails.contact_id = ${parameter('contactId')} and emails.created_at > ${parameter('since')}
      and emails.workflow_execution_id is not null
      and ${unindexed(sql`emails.recipient`)} = ${parameter('recipient')}
      and emails.state not in ('suppressed', 'failed')
      and ${unindexed(sql`execution.workflow_id`)} = ${parameter('workflowId')}
      and execution.number <> ${parameter('executionNumber')}`,
)

export function createTemplatePlans(
  deps: SendEmailDeps,
  project: Project,
  at: number,
): TemplatePlans {
  const plans = new Map<string, Promise<TemplatePlan | AppError>>()
  return (templateId) => {
    const known = plans.get(templateId)
    if (known !== undefined) return known
    const plan = planTemplate(deps, { project, templateId }, at).catch(refusalOf)
    plans.set(templateId, plan)
    return plan
  }
}

type SendInput = {
  call: SendCall
  plans: TemplatePlans
  workflow: Pick<Workflow, 'id' | 'triggerEvent' | 'triggerConfig'>
  at: number
}

export async function sendEmail(
  deps: AcceptDeps,
  tx: Tx,
  { call, plans, workflow, at }: SendInput,
): Promise<StepOutcome> {
  const { step, stepExecutionId, execution } = call
  const { templateId } = step
  const recipientType = step.config.recipient?.type ?? 'CONTACT'
  const recipient = recipientOf(call)
  const input = { templateId, recipientType, recipientEmail: recipient?.address ?? null }
  if (templateId === null)
    return { kind: 'failed', input, error: STEP_ERRORS.step_without_template }
  if (recipient === undefined)
    return { kind: 'failed', input, error: STEP_ERRORS.step_without_recipient }
  const withheld = await findWithheldAnswer(tx, { execution, recipient, workflow, at })
  if (withheld !== undefined) return { kind: 'skipped', input, reason: withheld }
  const plan = await plans(templateId)
  if (plan instanceof AppError) return { kind: 'failed', input, error: plan.message }
  const isNamed = recipientType === 'CUSTOM'
  const unwanted = isNamed ? await findRefusalOfNamed(tx, { recipient, plan }) : undefined
  if (unwanted !== undefined) return { kind: 'skipped', input, reason: unwanted }
  const accepted = await acceptForContact(deps, tx, {
    plan,
    contact: execution.contact,
    recipient,
    executionId: execution.id,
    stepExecutionId,
    storedVariables: variablesOf(execution),
    bypassesSubscription: isNamed,
    isAnswer: workflow.triggerEvent === RECEIVED,
    at,
  }).catch(refusalOf)
  if (accepted instanceof AppError) return { kind: 'failed', input, error: accepted.message }
  execution.emailIds.set(step.id, accepted.id)
  const output = {
    emailId: accepted.id,
    sentAt: formatInstant(at),
    recipientType,
    recipientEmail: accepted.recipient,
    state: accepted.state,
  }
  return { kind: 'done', input, output }
}

/**
 * Returns why mail to an address that the step names is not wanted there; undefined if it may be
 * sent. Only the wishes of this address count, even if it is the contact's own: whether the project
 * unsubscribed the contact does not matter.
 */
async function findRefusalOfNamed(
  tx: Tx,
  { recipient, plan }: { recipient: ParsedAddress; plan: TemplatePlan },
): Promise<string | undefined> {
  const { address } = recipient
  const key = { projectId: plan.project.id, address }
  if (await isSuppressed(tx, key)) return suppressedRecipient(address)
  const isAsked = plan.contentClass !== 'TRANSACTIONAL'
  return isAsked && (await hasLeft(tx, key)) ? unsubscribedRecipient(address) : undefined
}

/**
 * Returns why the mail would be one answer too many to the sender of the message that started the
 * execution; undefined if it is not.
 */
async function findWithheldAnswer(
  tx: Tx,
  {
    execution,
    recipient,
    workflow,
    at,
  }: Omit<SendInput, 'call' | 'plans'> & {
    execution: WalkingExecution
    recipient: ParsedAddress
  },
): Promise<string | undefined> {
  const { answersPerDay: perDay } = receivedOptionsOf(workflow)
  const isAnswer =
    workflow.triggerEvent === RECEIVED &&
    execution.isStartedByEvent &&
    recipient.address === execution.contact.address
  if (!isAnswer || perDay === null) return undefined
  return findWithheld(tx, execution, { workflowId: workflow.id, perDay, at })
}

function recipientOf({ step, execution }: SendCall): ParsedAddress | undefined {
  const { recipient } = step.config
  return parseAddress(
    recipient?.type === 'CUSTOM' ? recipient.customEmail : execution.contact.address,
  )
}

/** Returns the variables from the context: its keys, and the whole context as `event`. */
function variablesOf({ context }: Pick<WalkingExecution, 'context'>): Record<string, unknown> {
  if (context === null) return {}
  const own = Object.entries(context).filter(([key]) => !RESERVED_KEYS.has(key))
  return { ...Object.fromEntries(own), event: context }
}

function refusalOf(error: unknown): AppError {
  if (error instanceof AppError && error.code !== 'DATABASE_ERROR') return error
  throw error
}

/** Returns the reason for which an answer is withheld; undefined if it may be sent. */
async function findWithheld(
  tx: Tx,
  { number, contact }: WalkingExecution,
  { workflowId, perDay, at }: { workflowId: string; perDay: number; at: number },
): Promise<string | undefined> {
  const { id: contactId, address: recipient } = contact
  const key = { contactId, recipient, workflowId, executionNumber: number }
  const found = await tx.find(countAnswers, { ...key, since: at - DAY_MS })
  return (found?.answers ?? 0) < perDay ? undefined : answersSpent(perDay)
}

const findEmail = statement<{ id: string }>(
  () => sql`select emails.id from workflow_step_executions as step
    join workflow_executions as execution on execution.number = step.execution_number
    join emails on emails.workflow_execution_id = execution.id
      and emails.workflow_step_execution_id = step.id
    where step.execution_number = ${parameter('executionNumber')}
      and step.step_id = ${parameter('stepId')}`,
)

/** Finds the email that an execution sent at a step; undefined if it has sent none there. */
export async function findEmailOfStep(
  tx: Tx,
  { number, emailIds }: WalkingExecution,
  stepId: string,
): Promise<string | undefined> {
  const own = emailIds.get(stepId)
  return own ?? (await tx.find(findEmail, { executionNumber: number, stepId }))?.id
}
