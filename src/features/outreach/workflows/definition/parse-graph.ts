/** Parses the graph of a request: the configs and templates of its steps. */
import { type FieldError, invalid, type UnknownName } from '../../../../base/errors.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { MAX_CONFIG_ERRORS } from '../graph/config-fields.ts'
import { type ReportUnknown, readConfig } from '../graph/parse-config.ts'
import { checkTemplates } from '../graph/step-templates.ts'
import type { Edge } from '../graph/structure.ts'
import { requireConfigRoom, requireSendEmail, type StepRow } from './step-rows.ts'

export type GivenStep = {
  id: string
  type: StepType
  name: string
  /** Undefined: as it is. */
  position?: { x: number; y: number } | undefined
  config: unknown
  /** Undefined: the one in the config, where older clients have it. */
  templateId?: string | null | undefined
}

/** Without an id, a transition is that of the same steps, branch and outcome. */
export type GivenTransition = Edge & { id?: string | undefined; priority: number }

export type GivenGraph = { steps: readonly GivenStep[]; transitions: readonly GivenTransition[] }

export type ParsedStep = Omit<StepRow, 'position'> & Pick<GivenStep, 'position'>
export type ParsedGraph = { steps: ParsedStep[]; transitions: readonly GivenTransition[] }

/** @throws AppError VALIDATION_ERROR for an id that occurs twice */
export function requireDistinct({ steps, transitions }: GivenGraph): void {
  const errors = [...findRepeated(steps, 'steps'), ...findRepeated(transitions, 'transitions')]
  if (errors.length > 0) throw invalid(errors.slice(0, MAX_CONFIG_ERRORS))
}

/** By the ids of the steps. */
type StoredConfigs = ReadonlyMap<string, StepRow['config']>

/** @throws AppError VALIDATION_ERROR; BAD_REQUEST for template syntax */
export async function parseGraph(
  deps: Pick<Base, 'outbound'>,
  { steps, transitions }: GivenGraph,
  { stored, report }: { stored: StoredConfigs; report: ReportUnknown | undefined },
): Promise<ParsedGraph> {
  const errors = [...findRepeated(steps, 'steps'), ...findRepeated(transitions, 'transitions')]
  const unknown: UnknownName[] = []
  const parsed = steps.map(({ templateId, ...step }, index): ParsedStep => {
    const read =
      errors.length < MAX_CONFIG_ERRORS
        ? readConfig({ ...step, path: `steps.${index}.config` }, errors)
        : { config: {}, templateId: undefined, unknown: [] }
    const { config, templateId: inConfig = null } = read
    unknown.push(...read.unknown)
    return { ...step, config, templateId: templateId === undefined ? inConfig : templateId }
  })
  if (errors.length > 0) throw invalid(errors.slice(0, MAX_CONFIG_ERRORS))
  requireConfigRoom(
    parsed.map(({ config }) => config),
    'steps',
  )
  report?.(unknown)
  for (const [index, { id, type, config, templateId }] of parsed.entries()) {
    if (templateId !== null) requireSendEmail(type, `steps.${index}.templateId`)
    const place = { path: `steps.${index}.config`, before: stored.get(id) }
    await checkTemplates(deps, { type, config }, place)
  }
  return { steps: parsed, transitions }
}

function findRepeated(rows: readonly { id?: string | undefined }[], list: string): FieldError[] {
  const taken = new Set<string>()
  return rows.flatMap(({ id }, index) => {
    if (id === undefined || !taken.has(id)) {
      if (id !== undefined) taken.add(id)
      return []
    }
    return [{ field: `${list}.${index}.id`, code: 'custom', message: 'Occurs twice' }]
  })
}
