/**
 * The templates in the configs of steps: the url, the values of headers and every text in the body
 * of a WEBHOOK, and every text in the values of an UPDATE_CONTACT. Their syntax is checked when
 * they are saved, like that of stored templates.
 */
import { AppError, invalidField } from '../../../../base/errors.ts'
import { countMarkers } from '../../../../formats/template/template.ts'
import type { StepType } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { findTemplateFault } from '../../../mail/templates/validate.ts'
import { MAX_MARKERS_PER_STEP } from '../limits.ts'
import type { StepConfigs, UpdateContactConfig, WebhookConfig } from './step-config.ts'

/** A step of any type, with its config. */
type Configured = { type: StepType; config: StepConfigs[StepType] | Record<string, unknown> }

/** A text without markers is no template. */
const MARKER = /\{[{%]/

export function hasTemplateMarker(text: string): boolean {
  return MARKER.test(text)
}

/** Replaces each text in the value, but not the keys. */
export function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapTexts(item, map)]))
}

/**
 * Checks the templates of a step. `path` is the field of the config; `before`: the config that is stored, whose
 * templates were checked when they were saved, by the rules of that time.
 * @throws AppError VALIDATION_ERROR (too many placeholders); BAD_REQUEST for template syntax, with
 *   `details` `{ field, line, column }`
 */
export async function checkTemplates(
  deps: Pick<Base, 'outbound'>,
  step: Configured,
  { path, before = {} }: { path: string; before?: Configured['config'] | undefined },
): Promise<void> {
  requireFewMarkers(step, path)
  const texts = [...templatesOf(step, path)].filter(([, text]) => countMarkers(text) > 0)
  let stored: Map<string, string> | undefined
  for (const [field, text] of texts) {
    const fault = await findTemplateFault(deps, text)
    if (fault === undefined) continue
    stored ??= new Map(templatesOf({ type: step.type, config: before }, path))
    if (stored.get(field) === text) continue
    if (fault === 'too heavy') {
      throw invalidField(
        field,
        'too_complex',
        'The template takes too much time or memory to parse',
      )
    }
    const { line, column, message } = fault
    const place = `line ${line}, column ${column}`
    throw new AppError('BAD_REQUEST', `The template in ${field} has a fault in ${place}.`, {
      fields: [{ field, code: 'template_syntax', message: `In ${place}: ${message}` }],
      details: { field, line, column },
    })
  }
}

/** @throws AppError VALIDATION_ERROR */
export function requireFewMarkers(step: Configured, path: string): void {
  let markers = 0
  for (const [, text] of templatesOf(step, path)) markers += countMarkers(text)
  if (markers <= MAX_MARKERS_PER_STEP) return
  throw invalidField(path, 'too_big', `More than ${MAX_MARKERS_PER_STEP} placeholders and tags`)
}

/**
 * Yields the texts that are templates, each with the path of its field, which begins with `path`.
 */
export function* templatesOf(
  { type, config }: Configured,
  path: string,
): Generator<[field: string, text: string]> {
  if (type === 'UPDATE_CONTACT') {
    yield* textsIn((config as UpdateContactConfig).updates, `${path}.updates`)
  }
  if (type !== 'WEBHOOK') return
  const { url, headers = {}, body } = config as WebhookConfig
  yield [`${path}.url`, url]
  yield* textsIn(headers, `${path}.headers`)
  yield* textsIn(body, `${path}.body`)
}

function* textsIn(value: unknown, path: string): Generator<[field: string, text: string]> {
  if (typeof value === 'string') yield [path, value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) yield* textsIn(item, `${path}.${key}`)
}
