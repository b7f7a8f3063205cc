/**
 * CONDITION: chooses a branch by the value of a field. `email.received` means mail of a
 * person.
 */
import { type SQL, sql } from '../../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../../store/statement.ts'
import type { Tx } from '../../../../../store/write/transaction.ts'
import { isAutomaticRow } from '../../../../ground/conditions/automatic-mail.ts'
import { storedEventName } from '../../../../ground/conditions/field.ts'
import { isKnownField } from '../../graph/condition-config.ts'
import type { Graph } from '../../graph/graph.ts'
import type { ConditionConfig, StepOf } from '../../graph/step-config.ts'
import { branchOfNone, chooseBranch } from '../evaluate.ts'
import { fieldValue } from '../field-value.ts'
import type { StepCall, StepOutcome, Walker } from '../walk.ts'
import { findEmailOfStep } from './email-of-step.ts'

/** What the row of an email says of its events. */
const DONE: Readonly<Record<string, SQL>> = {
  'email.sent': sql`sent_at is not null`,
  'email.delivery': sql`delivered_at is not null`,
  'email.open': sql`opened_at is not null`,
  'email.click': sql`clicked_at is not null`,
  'email.bounce': sql`bounced_at is not null`,
  'email.complaint': sql`complained_at is not null`,
  'email.failed': sql`state = 'failed'`,
  'email.suppressed': sql`state = 'suppressed'`,
}

const findDone = Object.fromEntries(
  Object.entries(DONE).map(([name, isDone]) => [
    name,
    statement<{ id: string }>(
      () => sql`select id from emails where id = ${parameter('emailId')} and ${isDone}`,
    ),
  ]),
)

const hasEvent = statement<{ seq: number }>(
  () => sql`select seq from events where contact_id = ${parameter('contactId')}
      and name = ${parameter('name')}
      and (name <> 'email.received' or not ${isAutomaticRow}) limit 1`,
)

const findOfCampaign = statement<{ id: string }>(
  () => sql`select id from emails where campaign_id = ${parameter('campaignId')}
      and contact_id = ${parameter('contactId')}`,
)

export async function branch(
  tx: Tx,
  { step: { config }, execution, graph }: StepCall<StepOf<'CONDITION'>>,
): Promise<StepOutcome> {
  const { field } = config
  const value = field.startsWith('email.')
    ? await hasHappened(tx, config, execution)
    : fieldValue(execution, field)
  const chosen = hasAnswer(config, graph) ? chooseBranch(config, value) : branchOfNone(config)
  return {
    kind: 'done',
    branch: chosen,
    input: { field, value: shown(value) },
    output: { branch: chosen },
  }
}

/** A field that does not exist has no answer, nor has the mail of a step that was deleted. */
function hasAnswer({ field, stepId }: ConditionConfig, { steps }: Graph): boolean {
  return isKnownField(field) && (stepId === undefined || steps.has(stepId))
}

/** Whether the contact has an event of the name, or the email of the step or campaign; undefined otherwise. */
async function hasHappened(
  tx: Tx,
  { field, stepId, campaignId }: ConditionConfig,
  execution: Walker,
): Promise<true | undefined> {
  const name = storedEventName(field)
  if (stepId === undefined && campaignId === undefined) {
    const found = await tx.find(hasEvent, { contactId: execution.contact.id, name })
    return found === undefined ? undefined : true
  }
  const emailId =
    stepId === undefined
      ? (await tx.find(findOfCampaign, { campaignId, contactId: execution.contact.id }))?.id
      : await findEmailOfStep(tx, execution, stepId)
  const isDone = findDone[name]
  if (emailId === undefined || isDone === undefined) return undefined
  return (await tx.find(isDone, { emailId })) === undefined ? undefined : true
}

const MAX_SHOWN_LENGTH = 1_000

/** Long values are cut: each step of each execution keeps its input. */
function shown(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value !== 'string' && typeof value !== 'object') return value
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length <= MAX_SHOWN_LENGTH) return value
  return `${text.slice(0, MAX_SHOWN_LENGTH).toWellFormed()}…`
}
