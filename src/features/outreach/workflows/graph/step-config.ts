/**
 * The configs of the steps of workflows as they are stored: checked, and with one name for each
 * field. `parse-config.ts` makes them from requests. The template of a SEND_EMAIL stands in
 * `workflow_steps.template_id`; a draft may lack one.
 */

import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../../base/errors.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import { parseData, RESERVED_KEYS } from '../../../people/contacts/write/data.ts'
import type { ConfigFields } from './config-fields.ts'

export type DelayUnit = 'minutes' | 'hours' | 'days'
type SubscriptionAction = 'none' | 'subscribe' | 'unsubscribe'
export type WebhookMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export const CONDITION_OPERATORS = [
  'equals',
  'notEquals',
  'contains',
  'notContains',
  'in',
  'notIn',
  'greaterThan',
  'lessThan',
  'greaterThanOrEqual',
  'lessThanOrEqual',
  'exists',
  'notExists',
] as const
export type ConditionOperator = (typeof CONDITION_OPERATORS)[number]

/**
 * `eventName`: shown in the output of the TRIGGER step. The trigger itself stands in the row of the
 * workflow.
 */
export type TriggerConfig = { eventName?: string }

/** `customEmail`: a checked address, in lower case. */
export type SendEmailConfig = {
  recipient?: { type: 'CONTACT' } | { type: 'CUSTOM'; customEmail: string }
}

export type DelayConfig = { amount: number; unit: DelayUnit }

export type WaitConfig = {
  /** The name as the client gave it: `email.opened` is an alias of the stored name `email.open`. */
  eventName: string
  /** The timeout in seconds; absent: the step waits for ever. */
  timeout?: number
  /** Whether mail that a machine sent ends a wait for `email.received`, too. */
  includeAutomatic?: boolean
  /** A SEND_EMAIL step: only events of this execution's email of that step count. */
  stepId?: string
}

export type BinaryCondition = {
  /** A CONDITION without `mode` is binary. */
  mode?: 'binary'
  field: string
  operator: ConditionOperator
  value?: unknown
  /** The same as in `WaitConfig`, for a field `email.*`. */
  stepId?: string
  /** In place of `stepId`: only the email of this campaign counts. */
  campaignId?: string
}

export type ConditionBranch = {
  id: string
  name: string
  operator: ConditionOperator
  value?: unknown
}

export type MultiCondition = {
  mode: 'multi'
  field: string
  branches: ConditionBranch[]
  stepId?: string
  campaignId?: string
}

export type ConditionConfig = BinaryCondition | MultiCondition

export type WebhookConfig = {
  /** A template; the values of `headers` and each string in `body` are templates too. */
  url: string
  method: WebhookMethod
  headers?: Record<string, string>
  /** The body; if absent, the default payload is sent. */
  body?: unknown
  /** `fail` if absent. */
  onFailure?: 'fail' | 'continue'
}

export type UpdateContactConfig = {
  updates?: Record<string, unknown>
  /** `none` if absent. */
  subscriptionAction?: SubscriptionAction
}

export type ExitConfig = { reason?: string }

export type StepConfigs = {
  TRIGGER: TriggerConfig
  SEND_EMAIL: SendEmailConfig
  DELAY: DelayConfig
  WAIT_FOR_EVENT: WaitConfig
  CONDITION: ConditionConfig
  WEBHOOK: WebhookConfig
  UPDATE_CONTACT: UpdateContactConfig
  EXIT: ExitConfig
}

/** A step with its type and the config of that type. */
export type TypedStep = {
  [Type in StepType]: {
    id: string
    type: Type
    name: string
    config: StepConfigs[Type]
    templateId: string | null
  }
}[StepType]

export type StepOf<Type extends StepType> = Extract<TypedStep, { type: Type }>

/** Reads the config of an UPDATE_CONTACT, whose `updates` some clients call `data`. */
export function readUpdateContact(fields: ConfigFields): UpdateContactConfig {
  const [updates, data] = [
    fields.object('updates', { isMap: true }),
    fields.object('data', { isMap: true }),
  ]
  if (updates && data && !isDeepStrictEqual(updates.values, data.values)) {
    fields.fail('data', 'custom', 'Differs from updates, which is the same field')
  }
  const given = updates ?? data
  const name = updates === undefined ? 'data' : 'updates'
  const values = given?.values ?? {}
  checkValues(fields, name, values)
  const subscriptionAction = fields.choice('subscriptionAction', [
    'none',
    'subscribe',
    'unsubscribe',
  ])
  const isEffective = Object.keys(values).some((key) => !RESERVED_KEYS.has(key))
  const isWrong = fields.errors.length > 0
  if (!isWrong && !isEffective && (subscriptionAction ?? 'none') === 'none') {
    fields.fail(name === 'data' && given ? 'data' : 'updates', 'custom', 'Would change nothing')
  }
  return {
    ...(given && { updates: values }),
    ...(subscriptionAction && { subscriptionAction }),
  }
}

/** Checks values by the rules of contact data. */
function checkValues(fields: ConfigFields, name: string, values: unknown): void {
  try {
    parseData(values)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    for (const { field, code, message } of error.fields ?? []) {
      fields.fail(field.replace(/^data/, name), code, message)
    }
  }
}
