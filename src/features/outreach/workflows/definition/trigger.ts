/**
 * The triggers of workflows, which start executions.
 *
 *   EVENT      `{ eventName }`: an event of a contact; aliases of names are accepted. `email.received`
 *              has two options
 *   MANUAL     null: requests only
 *   SCHEDULE   `{ schedule, timezone, segmentId }`: the members of a segment, at fixed times
 *
 * The options of `email.received`: mail that a machine sent (`formats/incoming/automatic.ts`)
 * starts nothing unless `includeAutomatic` is true: two programs would answer each other without
 * end. `answersPerDay` limits the answers to all other mail, because some programs do not show that
 * they are programs.
 */
import { isDeepStrictEqual } from 'node:util'

import { type FieldError, invalid, wrongOrMissingText } from '../../../../base/errors.ts'
import type { TriggerType } from '../../../../store/schema/words.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import { RECEIVED } from '../../../ground/conditions/automatic-mail.ts'
import { storedEventName } from '../../../ground/conditions/field.ts'
import {
  type ConfigFields,
  isObject,
  listUnread,
  readConfigFields,
  readEventName,
  readUuid,
  typeName,
} from '../graph/config-fields.ts'
import type { ReportUnknown } from '../graph/parse-config.ts'
import type { TriggerConfig } from '../graph/step-config.ts'
import { MAX_ANSWERS_PER_DAY, MAX_SCHEDULE_LENGTH, MAX_TIMEZONE_LENGTH } from '../limits.ts'
import { type FiringTimes, isSchedule, isTimezone, nextFiring } from '../schedule/next-firing.ts'

/** The columns of a workflow that describe its trigger. */
export type Trigger = Pick<Workflow, 'triggerType' | 'triggerConfig' | 'triggerEvent' | 'segmentId'>

export type GivenTrigger = {
  triggerType?: TriggerType | undefined
  triggerConfig?: unknown
}

const DEFAULT_TIMEZONE = 'UTC'
const PATH = 'triggerConfig'
const NO_FIELD = 'A trigger of this type has no such field'

const MANUAL: Trigger = {
  triggerType: 'MANUAL',
  triggerConfig: null,
  triggerEvent: null,
  segmentId: null,
}

/**
 * The trigger of a new workflow. `options`: the other fields of `triggerConfig`.
 * @throws AppError VALIDATION_ERROR
 */
export function newEventTrigger(
  eventName: string,
  options: Record<string, unknown> = {},
  report?: ReportUnknown,
): Trigger {
  const errors: FieldError[] = []
  const fields = readConfigFields(options, PATH, errors)
  const trigger = eventTrigger(MANUAL, eventName, fields)
  if (errors.length > 0) throw invalid(errors)
  report?.(listUnread(fields, NO_FIELD))
  return trigger
}

function eventTrigger(current: Trigger, eventName: string, fields: ConfigFields): Trigger {
  const triggerEvent = storedEventName(eventName)
  const options = readReceivedOptions(fields, { triggerEvent, current })
  return {
    triggerType: 'EVENT',
    triggerConfig: { eventName, ...options },
    triggerEvent,
    segmentId: null,
  }
}

/**
 * Whether two triggers start executions by the same event or schedule. They may differ in the
 * options of `email.received`.
 */
export function startsAlike(one: Trigger, other: Trigger): boolean {
  return isDeepStrictEqual(withoutReceivedOptions(one), withoutReceivedOptions(other))
}

/**
 * Returns the trigger after a change. Whether the segment exists is the caller's to check.
 * @throws AppError VALIDATION_ERROR
 */
export function changeTrigger(
  current: Trigger,
  given: GivenTrigger,
  { now, report }: { now: number; report?: ReportUnknown | undefined },
): Trigger {
  const { triggerType = current.triggerType, triggerConfig } = given
  const isSame = triggerType === current.triggerType && triggerConfig === undefined
  if (isSame) return current
  if (triggerType === 'MANUAL') {
    return MANUAL
  }
  if (!isObject(triggerConfig)) throw invalid([wrongConfig(triggerConfig)])
  const errors: FieldError[] = []
  const fields = readConfigFields(triggerConfig, PATH, errors)
  if (triggerType === 'EVENT') {
    const eventName = readEventName(fields, { isRequired: true })
    const trigger = eventTrigger(current, eventName ?? '', fields)
    if (errors.length > 0) throw invalid(errors)
    report?.(listUnread(fields, NO_FIELD))
    return trigger
  }
  const schedule = fields.text('schedule', { max: MAX_SCHEDULE_LENGTH, isRequired: true })
  const timezone = fields.text('timezone', { max: MAX_TIMEZONE_LENGTH }) ?? DEFAULT_TIMEZONE
  if (fields.get('segmentId') === undefined) fields.fail('segmentId', 'invalid_type', 'Required')
  const segmentId = readUuid(fields, 'segmentId')
  if (!isTimezone(timezone)) {
    fields.fail('timezone', 'custom', 'Not the name of a time zone, such as Europe/Berlin')
  }
  if (schedule !== undefined && !isSchedule(schedule)) {
    fields.fail('schedule', 'custom', 'Not a cron expression of five fields, such as 0 9 * * 1')
  }
  if (errors.length > 0 || schedule === undefined || segmentId === undefined) throw invalid(errors)
  if (nextFiring({ schedule, timezone }, now) === null) {
    fields.fail('schedule', 'custom', 'Would never fire')
    throw invalid(errors)
  }
  report?.(listUnread(fields, NO_FIELD))
  const config = { schedule, timezone, segmentId }
  return { triggerType, triggerConfig: config, triggerEvent: null, segmentId }
}

/** The next firing of an enabled SCHEDULE after an instant; null for other triggers. */
export function nextFiringOf({ triggerType, triggerConfig }: Trigger, afterMs: number) {
  if (triggerType !== 'SCHEDULE' || triggerConfig === null) return null
  return nextFiring(triggerConfig as FiringTimes, afterMs)
}

/** The config of the TRIGGER step, which follows the trigger of the workflow. */
export function triggerStepConfig({ triggerType, triggerConfig }: Trigger): TriggerConfig {
  const eventName = triggerConfig?.eventName
  return triggerType === 'EVENT' && typeof eventName === 'string' ? { eventName } : {}
}

function wrongConfig(given: unknown): FieldError {
  const message = wrongOrMissingText('object', typeName(given ?? undefined))
  return { field: PATH, code: 'invalid_type', message }
}

type ReceivedOptions = {
  includeAutomatic: boolean
  /** The most messages of one sender that the workflow answers within 24 hours; null: all. */
  answersPerDay: number | null
}

/** The options of a new workflow. */
const DEFAULTS: ReceivedOptions = { includeAutomatic: false, answersPerDay: 1 }

type Triggered = Pick<Workflow, 'triggerEvent' | 'triggerConfig'>

/**
 * Returns the stored options of `email.received`. A workflow without a stored limit has no limit.
 */
export function receivedOptionsOf({ triggerEvent, triggerConfig }: Triggered): ReceivedOptions {
  if (triggerEvent !== RECEIVED) return DEFAULTS
  const { includeAutomatic, answersPerDay } = triggerConfig ?? {}
  return {
    includeAutomatic: includeAutomatic === true,
    answersPerDay: typeof answersPerDay === 'number' ? answersPerDay : null,
  }
}

/**
 * Reads the options of `email.received`; an absent option stays as it is. Returns undefined for
 * other events, which have no options.
 */
function readReceivedOptions(
  fields: ConfigFields,
  { triggerEvent, current }: { triggerEvent: string; current: Triggered },
): ReceivedOptions | undefined {
  if (triggerEvent !== RECEIVED) {
    for (const name of Object.keys(DEFAULTS)) {
      if (fields.get(name) === undefined) continue
      fields.fail(name, 'custom', `Only for the event ${RECEIVED}`)
    }
    return undefined
  }
  const { includeAutomatic, answersPerDay } = receivedOptionsOf(current)
  const given = fields.number('answersPerDay', {
    min: 1,
    max: MAX_ANSWERS_PER_DAY,
    isInteger: true,
  })
  const isUnlimited = fields.values.answersPerDay === null
  return {
    includeAutomatic: fields.boolean('includeAutomatic') ?? includeAutomatic,
    answersPerDay: isUnlimited ? null : (given ?? answersPerDay),
  }
}

/**
 * Returns a trigger without the options of `email.received`. What is left says by which event or
 * schedule executions start.
 */
function withoutReceivedOptions<T extends Triggered>(trigger: T): T {
  if (trigger.triggerEvent !== RECEIVED) return trigger
  const { includeAutomatic, answersPerDay, ...triggerConfig } = trigger.triggerConfig ?? {}
  return { ...trigger, triggerConfig }
}
