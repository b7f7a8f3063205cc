/** The fields of workflows in requests. The feature checks triggers and the configs of steps. */
import { z } from 'zod'
import { faultInServiceName } from '../../../features/ground/conditions/service-name.ts'
import {
  MAX_BRANCH_TEXT_LENGTH,
  MAX_CONFIGS_BYTES,
  MAX_STEPS,
  MAX_TRANSITIONS,
} from '../../../features/outreach/workflows/limits.ts'
import { eventName } from '../../../records/event.ts'
import { id, lineOfText } from '../../../records/fields.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH } from '../../../records/limits.ts'
import { STEP_TYPES, TRIGGER_TYPES, WAIT_OUTCOMES } from '../../../records/words.ts'

/** The largest graph: the configs, and all other fields of the steps and transitions. */
export const MAX_GRAPH_BYTES = MAX_CONFIGS_BYTES + 1024 * 1024

const MAX_PRIORITY = 1_000_000

const triggerType = z.enum(TRIGGER_TYPES)
const stepType = z.enum(STEP_TYPES)

const name = lineOfText(MAX_NAME_LENGTH).min(1)
const description = z.string().max(MAX_DESCRIPTION_LENGTH).nullable()
const position = z.object({ x: z.number(), y: z.number() })
const templateId = id.nullable().meta({
  type: ['string', 'null'],
  format: 'uuid',
  description: 'Of a SEND_EMAIL. If absent, the one in `config`, if it has one',
})
const givenConfig = z.record(z.string(), z.unknown()).meta({
  description:
    'TRIGGER `{}`; SEND_EMAIL `{recipient?: {type: CONTACT | CUSTOM, customEmail?}}`; DELAY ' +
    '`{amount, unit: minutes | hours | days}`; WAIT_FOR_EVENT `{eventName, timeout?, stepId?, ' +
    'includeAutomatic?}` in seconds; CONDITION `{field, operator, value?, stepId?, campaignId?}` or `{mode: multi, field, branches: ' +
    '[{id, name, operator, value?}]}`; WEBHOOK `{url, method?, headers?, body?, onFailure?}`, values in ' +
    '`url` are percent-encoded by their place; ' +
    'UPDATE_CONTACT `{updates?, subscriptionAction?}`, texts in the values of `updates` are templates; EXIT `{reason?}`',
})
/** The name of an event that starts executions. Only an event that can occur is accepted. */
const followedEvent = eventName.superRefine((given, context) => {
  const message = faultInServiceName(given)
  if (message !== undefined) context.addIssue({ code: 'custom', message })
})
/** The config of a step; a step that needs no config may leave it out. */
const config = givenConfig.default({})
const triggerConfig = z.unknown().meta({
  description:
    'EVENT `{eventName}`, and for `email.received` `{eventName, includeAutomatic?, answersPerDay?}`; MANUAL null; SCHEDULE `{schedule, timezone?, segmentId}`: a cron expression ' +
    'of five fields, the name of a time zone (UTC if absent)',
})

/** `enabled` and `triggerType` have no effect: a new workflow is disabled and waits for an event. */
export const newWorkflow = z
  .object({
    name,
    eventName: followedEvent.optional().meta({
      description: 'Required, here or as `triggerConfig.eventName`',
    }),
    description: description.optional(),
    enabled: z.boolean().optional().meta({ description: 'Ignored' }),
    allowReentry: z.boolean().optional(),
    triggerType: triggerType.optional().meta({ description: 'Ignored' }),
    triggerConfig: z
      .looseObject({ eventName: followedEvent.optional() })
      .nullable()
      .optional()
      .meta({
        description:
          'For `email.received` also `includeAutomatic` (false) and `answersPerDay` (1; null = all)',
      }),
  })
  .superRefine((body, context) => {
    const [one, two] = [body.eventName, body.triggerConfig?.eventName]
    if (one === undefined && two === undefined) {
      context.addIssue({ code: 'custom', path: ['eventName'], message: 'Required' })
    }
    if (one === undefined || two === undefined || one === two) return
    const path = ['triggerConfig', 'eventName']
    context.addIssue({ code: 'custom', path, message: 'Differs from eventName' })
  })
  .transform((body) => {
    const { name, eventName: given, description, allowReentry, triggerConfig } = body
    const { eventName: other = '', ...triggerOptions } = triggerConfig ?? {}
    const workflow = { name, eventName: given ?? other, triggerOptions, description, allowReentry }
    const { enabled = false, triggerType = 'EVENT' } = body
    return { workflow, isEnabledGiven: enabled, givenTrigger: triggerType }
  })

export const workflowChanges = z.object({
  name: name.optional(),
  description: description.optional(),
  triggerType: triggerType.optional(),
  triggerConfig: triggerConfig.optional(),
  enabled: z.boolean().optional(),
  allowReentry: z.boolean().optional(),
})

export const newStep = z.object({
  type: stepType,
  name,
  position: position.optional().meta({ description: 'If absent, below the step before' }),
  config,
  templateId: templateId.optional(),
  autoConnect: z.boolean().default(true).meta({
    description: 'Whether the newest step that nothing follows leads to the new one',
  }),
})

export const insertedStep = z.object({
  type: stepType,
  name,
  position: position.optional(),
  config,
  templateId: templateId.optional(),
})

export const stepChanges = z.object({
  name: name.optional(),
  position: position.optional(),
  config: givenConfig.optional(),
  templateId: templateId.optional(),
})

const branch = z.string().max(MAX_BRANCH_TEXT_LENGTH)

const transitionFields = z.object({
  fromStepId: id,
  toStepId: id,
  condition: z.object({ branch: branch.optional() }).nullable().optional().meta({
    description: 'The branch of a CONDITION: `yes`, `no`, the id of a branch, or `default`',
  }),
  branch: branch.nullable().optional().meta({ description: 'The same as `condition.branch`' }),
  waitOutcome: z
    .enum(WAIT_OUTCOMES)
    .nullable()
    .optional()
    .meta({ description: 'Of a WAIT_FOR_EVENT' }),
  priority: z.int().min(0).max(MAX_PRIORITY).default(0).meta({
    description: 'Transitions with lower numbers are tried first',
  }),
})

export const newTransition = transitionFields.superRefine(refuseTwoBranches).transform(toEdge)

/** A UUID is longer, so that a UUID which lost a character is not taken for a name. */
const MAX_STEP_NAME_LENGTH = 32
const STEP_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/

const stepName = z
  .string()
  .max(MAX_STEP_NAME_LENGTH, 'Neither a UUID nor a name of at most 32 characters')
  .regex(STEP_NAME, 'Neither a UUID nor a name of letters, digits, _, . and -')

const stepId = z.union([id, stepName], { error: 'Neither a UUID nor a name' }).meta({
  description: 'A UUID, or a name of your choice such as `welcome`, which stands for one',
})

export const graph = z.object({
  steps: z
    .array(
      z.object({
        id: stepId,
        type: stepType,
        name,
        position: position.optional(),
        config,
        templateId: templateId.optional(),
      }),
    )
    .max(MAX_STEPS),
  transitions: z
    .array(
      transitionFields
        .extend({ id: id.optional(), fromStepId: stepId, toStepId: stepId })
        .superRefine(refuseTwoBranches)
        .transform(toEdge),
    )
    .max(MAX_TRANSITIONS),
})

type Transition = z.output<typeof transitionFields>

function refuseTwoBranches(body: Transition, context: z.core.$RefinementCtx<unknown>): void {
  const [one, two] = [body.condition?.branch, body.branch ?? undefined]
  if (one === undefined || two === undefined || one === two) return
  const message = 'Differs from condition.branch, which is the same field'
  context.addIssue({ code: 'custom', path: ['branch'], message })
}

function toEdge<Body extends Transition>(body: Body) {
  const { condition, branch, waitOutcome = null, ...rest } = body
  const named = condition?.branch ?? branch ?? undefined
  return { ...rest, condition: named === undefined ? null : { branch: named }, waitOutcome }
}
