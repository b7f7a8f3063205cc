/**
 * The configs of the steps of workflows, as they are stored: checked and with
 * one spelling. `parse-config.ts` makes them from requests. The template of a SEND_EMAIL stands in
 * `workflow_steps.template_id`; a draft may lack one.
 */
import type { StepType } from '../../../../store/schema/words.ts'

export type DelayUnit = 'minutes' | 'hours' | 'days'
export type SubscriptionAction = 'none' | 'subscribe' | 'unsubscribe'
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

/** The output of TRIGGER names the event; the trigger itself stands in the workflow. */
export type TriggerConfig = { eventName?: string }

/** `customEmail`: a checked address, in lower case. */
export type SendEmailConfig = {
  recipient?: { type: 'CONTACT' } | { type: 'CUSTOM'; customEmail: string }
}

export type DelayConfig = { amount: number; unit: DelayUnit }

export type WaitConfig = {
  /** As given: `email.opened` is an alias of the stored name `email.open`. */
  eventName: string
  /** Seconds; absent: it waits for ever. */
  timeout?: number
  /** Whether mail that a machine sent ends a wait for `email.received`, too. */
  includeAutomatic?: boolean
  /** A SEND_EMAIL step: only events of this execution's email of that step count. */
  stepId?: string
}

export type BinaryCondition = {
  /** Absent or 'binary'. */
  mode?: 'binary'
  field: string
  operator: ConditionOperator
  value?: unknown
  /** As for `WaitConfig`, if the field is `email.*`. */
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
  /** A template, as are the values of `headers` and each string in `body`. */
  url: string
  method: WebhookMethod
  headers?: Record<string, string>
  /** Absent: the default payload. */
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
export type Step = {
  [Type in StepType]: {
    id: string
    type: Type
    name: string
    config: StepConfigs[Type]
    templateId: string | null
  }
}[StepType]

export type StepOf<Type extends StepType> = Extract<Step, { type: Type }>
