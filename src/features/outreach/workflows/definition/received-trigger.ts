/**
 * The options of the trigger `email.received`. Mail that a machine sent (`formats/incoming/automatic.ts`)
 * starts nothing unless `includeAutomatic` says so: two programs that answer each other would not end.
 * `answersPerDay` bounds the rest, because not every program says that it is one.
 */
import type { Workflow } from '../../../../store/schema/workflows.ts'
import { RECEIVED } from '../../../ground/conditions/automatic-mail.ts'
import type { ConfigFields } from '../graph/config-fields.ts'
import { MAX_ANSWERS_PER_DAY } from '../limits.ts'

type ReceivedOptions = {
  includeAutomatic: boolean
  /** Messages of one sender that the workflow answers within 24 hours; null: all. */
  answersPerDay: number | null
}

/** The options of a new workflow. */
const DEFAULTS: ReceivedOptions = { includeAutomatic: false, answersPerDay: 1 }

type Triggered = Pick<Workflow, 'triggerEvent' | 'triggerConfig'>

/** Returns the options as they are stored; a workflow without a stored limit has none. */
export function receivedOptionsOf({ triggerEvent, triggerConfig }: Triggered): ReceivedOptions {
  if (triggerEvent !== RECEIVED) return DEFAULTS
  const { includeAutomatic, answersPerDay } = triggerConfig ?? {}
  return {
    includeAutomatic: includeAutomatic === true,
    answersPerDay: typeof answersPerDay === 'number' ? answersPerDay : null,
  }
}

/** Reads the options; absent ones stay as they are. Undefined for other events, which have none. */
export function readReceivedOptions(
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

/** Returns a trigger without these options. The rest says which events start executions at all. */
export function withoutReceivedOptions<T extends Triggered>(trigger: T): T {
  if (trigger.triggerEvent !== RECEIVED) return trigger
  const { includeAutomatic, answersPerDay, ...triggerConfig } = trigger.triggerConfig ?? {}
  return { ...trigger, triggerConfig }
}
