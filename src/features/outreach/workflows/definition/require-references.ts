/**
 * Requires that the steps and campaigns exist that the configs of steps name. A finding, not this
 * file, reports a named step that sends no email or does not come earlier.
 */
import { AppError, type FieldError, invalid } from '../../../../base/errors.ts'
import { type Effort, newEffort } from '../../../../config/layers/closest.ts'
import { and, eq, inArray } from '../../../../store/drizzle.ts'
import { campaigns } from '../../../../store/schema/campaigns.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import { shortenForError, suggest } from '../../../ground/conditions/field-errors.ts'
import { isObject, MAX_CONFIG_ERRORS } from '../graph/config-fields.ts'
import type { ConditionConfig } from '../graph/step-config.ts'
import type { StepRow } from './step-rows.ts'

/** `id`: the id that the author of the workflow uses, which is a UUID or a short id. */
type NamedStep = { id: string; type: string; name: string }

/** `before`: the config as it was; `path`: the field of the config. */
type Edited = { type: StepType; config: unknown; before?: unknown; path: string }

/**
 * The types of steps whose configs have a `stepId`. In the config of another type, `stepId` is an
 * unknown name.
 */
const WITH_STEP: readonly StepType[] = ['WAIT_FOR_EVENT', 'CONDITION']

/** A message lists at most this many emails. */
const MAX_LISTED = 10

/**
 * Requires that each `stepId` names a step of `known` or `others`; a message lists only steps of
 * `known`. A step that the config named before may be missing, because it may have been removed.
 * @throws AppError VALIDATION_ERROR, which lists the emails of the workflow
 */
export function requireSteps(
  edited: readonly Edited[],
  known: readonly NamedStep[],
  others: readonly NamedStep[] = [],
): void {
  const ids = new Set([...known, ...others].map(({ id }) => plain(id)))
  const emails = known.filter(({ type }) => type === 'SEND_EMAIL')
  const effort = newEffort()
  const faults: FieldError[] = []
  for (const { type, config, before, path } of edited) {
    const id = stepOf(type, config)
    if (id === undefined || ids.has(plain(id)) || id === stepOf(type, before)) continue
    const message = `The workflow has no step "${shortenForError(id)}"; ${listEmails(id, emails, effort)}`
    faults.push({ field: `${path}.stepId`, code: 'custom', message })
    if (faults.length === MAX_CONFIG_ERRORS) break
  }
  if (faults.length > 0) throw invalid(faults)
}

/** Returns the `stepId` of a config; undefined if the config has none, or one that is no text. */
export function stepOf(type: StepType, config: unknown): string | undefined {
  if (!WITH_STEP.includes(type)) return undefined
  if (!isObject(config) || typeof config.stepId !== 'string') return undefined
  return config.stepId === '' ? undefined : config.stepId
}

function listEmails(id: string, emails: readonly NamedStep[], effort: Effort): string {
  if (emails.length === 0) return 'it has no SEND_EMAIL, whose id is meant'
  const listed = emails
    .slice(0, MAX_LISTED)
    .map((step) => (step.id === step.name ? step.id : `${step.id} ("${step.name}")`))
  const more = emails.length > MAX_LISTED ? ` and ${emails.length - MAX_LISTED} more` : ''
  const ids = emails.map((email) => email.id)
  return `its emails are ${listed.join(', ')}${more}.${suggest(id, ids, effort)}`
}

/**
 * Returns the id for a comparison. The case of a UUID does not matter, and a short id never equals
 * a UUID.
 */
function plain(id: string): string {
  return id.length === 36 ? id.toLowerCase() : id
}

type Configured = Pick<StepRow, 'type' | 'config'>

/** `before`: the step as it was; `path`: the field of the config. */
type EditedStep = { step: Configured; before?: Configured | undefined; path: string }

/**
 * Requires that the campaigns of the steps exist. A campaign that a step named before may be
 * missing, because it may have been deleted.
 * @throws AppError BAD_REQUEST
 */
export async function requireCampaigns(
  queries: Queries,
  projectId: string,
  edited: readonly EditedStep[],
): Promise<void> {
  const others = edited.filter(
    ({ step, before }) => before === undefined || campaignOf(before) !== campaignOf(step),
  )
  const steps = others.map(({ step }) => step)
  const known = await listCampaignsOf(queries, projectId, steps)
  for (const { step, path } of others) {
    const id = campaignOf(step)
    if (id === undefined || known.has(id)) continue
    const message = 'The condition refers to a campaign that this project does not have.'
    throw new AppError('BAD_REQUEST', message, {
      fields: [{ field: `${path}.campaignId`, code: 'custom', message: 'No such campaign' }],
      details: { resource: 'campaign', id },
    })
  }
}

/** Returns the ids of the campaigns that the steps name and that exist. */
export async function listCampaignsOf(
  queries: Queries,
  projectId: string,
  steps: readonly Configured[],
): Promise<Set<string>> {
  const ids = [...new Set(steps.flatMap((step) => campaignOf(step) ?? []))]
  if (ids.length === 0) return new Set()
  const isOurs = and(eq(campaigns.projectId, projectId), inArray(campaigns.id, ids))
  const rows = await queries.select({ id: campaigns.id }).from(campaigns).where(isOurs)
  return new Set(rows.map(({ id }) => id))
}

function campaignOf({ type, config }: Configured): string | undefined {
  return type === 'CONDITION' ? (config as ConditionConfig).campaignId : undefined
}
