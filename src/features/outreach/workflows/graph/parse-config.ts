/**
 * Parses the configs of steps (`step-config.ts`) that requests give. Unknown fields are dropped and
 * reported. A null counts as absent, except as the value of a condition.
 */

import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../../base/clock.ts'
import {
  type FieldError,
  invalid,
  type UnknownName,
  wrongOrMissingText,
} from '../../../../base/errors.ts'
import { isDeeperThan } from '../../../../base/json-text.ts'
import { parseShownAddress } from '../../../../formats/address/named-mailbox.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import {
  MAX_CONFIG_BYTES,
  MAX_CONFIG_DEPTH,
  MAX_DELAY_MS,
  MAX_REASON_LENGTH,
  MAX_TIMEOUT_SECONDS,
} from '../limits.ts'
import { readCondition } from './condition-config.ts'
import {
  type ConfigFields,
  isObject,
  listUnread,
  readConfigFields,
  readEventName,
  readUuid,
  typeName,
} from './config-fields.ts'
import { readWebhook } from './secret-headers.ts'
import {
  type DelayConfig,
  type DelayUnit,
  type ExitConfig,
  readUpdateContact,
  type SendEmailConfig,
  type StepConfigs,
  type TriggerConfig,
  type WaitConfig,
} from './step-config.ts'

type GivenConfig = {
  type: StepType
  config: unknown
  /** The field of the request. */
  path: string
}

/**
 * `templateId`: the template in the config of a SEND_EMAIL, where older clients name it. `unknown`:
 * the names that the step does not read.
 */
export type ParsedConfig = {
  config: StepConfigs[StepType]
  templateId: string | undefined
  unknown: readonly UnknownName[]
}

/**
 * Called with the names that nothing reads, and may refuse them.
 * @throws AppError VALIDATION_ERROR
 */
export type ReportUnknown = (names: readonly UnknownName[]) => void

const UNIT_MS: Record<DelayUnit, number> = { minutes: MINUTE_MS, hours: HOUR_MS, days: DAY_MS }

const READERS: { [Type in StepType]: (fields: ConfigFields) => StepConfigs[Type] } = {
  TRIGGER: readTrigger,
  SEND_EMAIL: readSendEmail,
  DELAY: readDelay,
  WAIT_FOR_EVENT: readWait,
  CONDITION: readCondition,
  WEBHOOK: readWebhook,
  UPDATE_CONTACT: readUpdateContact,
  EXIT: readExit,
}

/** @throws AppError VALIDATION_ERROR with the paths of the fields */
export function parseConfig(given: Omit<GivenConfig, 'path'>): ParsedConfig {
  const errors: FieldError[] = []
  const parsed = readConfig({ ...given, path: 'config' }, errors)
  if (errors.length > 0) throw invalid(errors)
  return parsed
}

/**
 * Does the same as `parseConfig`, but adds faults to `errors` and throws nothing. After a fault the
 * result is not to be used.
 */
export function readConfig(
  { type, config, path }: GivenConfig,
  errors: FieldError[],
): ParsedConfig {
  const fault = isObject(config)
    ? faultOfSize(config, path)
    : {
        field: path,
        code: 'invalid_type',
        message: wrongOrMissingText('object', typeName(config)),
      }
  if (fault !== undefined) errors.push(fault)
  const values = fault === undefined ? (config as Record<string, unknown>) : {}
  const own: FieldError[] = []
  const fields = readConfigFields(values, path, own)
  const parsed = READERS[type](fields)
  const templateId = type === 'SEND_EMAIL' ? readUuid(fields, 'templateId') : undefined
  if (fault === undefined) errors.push(...own)
  const unknown = fault === undefined ? listUnread(fields, NO_FIELD_OF[type] ?? NO_FIELD) : []
  return { config: parsed, templateId, unknown }
}

const NO_FIELD = 'A step of this type has no such field'
const NO_FIELD_OF: Partial<Record<StepType, string>> = {
  CONDITION: 'A CONDITION of this mode has no such field',
}

/** Returns how many bytes a config takes as it is stored. */
export function configBytes(config: unknown): number {
  return Buffer.byteLength(JSON.stringify(config))
}

function faultOfSize(config: Record<string, unknown>, field: string): FieldError | undefined {
  if (isDeeperThan(config, MAX_CONFIG_DEPTH)) {
    return { field, code: 'too_big', message: `Nested more than ${MAX_CONFIG_DEPTH} levels deep` }
  }
  if (configBytes(config) <= MAX_CONFIG_BYTES) return undefined
  return { field, code: 'too_big', message: `Larger than ${MAX_CONFIG_BYTES} bytes of JSON` }
}

function readTrigger(fields: ConfigFields): TriggerConfig {
  const eventName = readEventName(fields)
  return eventName === undefined ? {} : { eventName }
}

function readSendEmail(fields: ConfigFields): SendEmailConfig {
  const recipient = fields.object('recipient')
  const type = recipient?.choice('type', ['CONTACT', 'CUSTOM'], { isRequired: true })
  if (recipient === undefined || type === undefined) return {}
  if (type === 'CONTACT') return { recipient: { type } }
  const text = recipient.text('customEmail', { max: MAX_ADDRESS_LENGTH, isRequired: true })
  const address = text === undefined ? undefined : parseShownAddress(text)
  if (text !== undefined && address === undefined) {
    recipient.fail('customEmail', 'invalid_string', 'Not an email address')
  }
  return { recipient: { type, customEmail: address?.address ?? '' } }
}

const MAX_ADDRESS_LENGTH = 1_024

function readDelay(fields: ConfigFields): DelayConfig {
  const unit = fields.choice('unit', ['minutes', 'hours', 'days'], { isRequired: true }) ?? 'days'
  const max = MAX_DELAY_MS / UNIT_MS[unit]
  const amount = fields.number('amount', { min: 0, max, isRequired: true }) ?? 1
  if (amount <= 0) fields.fail('amount', 'too_small', 'Must be greater than 0')
  return { amount, unit }
}

function readWait(fields: ConfigFields): WaitConfig {
  const eventName = readEventName(fields, { isRequired: true }) ?? ''
  const timeout = fields.number('timeout', { min: 1, max: MAX_TIMEOUT_SECONDS, isInteger: true })
  const stepId = readUuid(fields, 'stepId')
  if (fields.get('stepId') !== undefined && !eventName.startsWith('email.')) {
    fields.fail('stepId', 'custom', 'Only an event email.* takes a step')
  }
  const includeAutomatic = fields.boolean('includeAutomatic')
  if (includeAutomatic !== undefined && eventName !== 'email.received') {
    fields.fail('includeAutomatic', 'custom', 'Only for the event email.received')
  }
  return {
    eventName,
    ...(timeout === undefined ? {} : { timeout }),
    ...(includeAutomatic === undefined ? {} : { includeAutomatic }),
    ...(stepId === undefined ? {} : { stepId }),
  }
}

function readExit(fields: ConfigFields): ExitConfig {
  const reason = fields.text('reason', { max: MAX_REASON_LENGTH, min: 0 })
  return reason === undefined || reason === '' ? {} : { reason }
}
