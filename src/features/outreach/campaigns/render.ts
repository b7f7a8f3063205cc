/** `POST /render`: shows what a send of a text, a template or a campaign would look like. */
import { setImmediate } from 'node:timers/promises'
import { invalid } from '../../../base/errors.ts'
import { newEffort } from '../../../config/layers/closest.ts'
import type { PartFault, RenderedMessage } from '../../../formats/compose/build-message.ts'
import { CONTACT } from '../../../formats/template/variables.ts'
import type { RenderedPreview } from '../../../records/template.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { ContentClass } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import {
  NO_CONTACT,
  type PreviewDeps,
  type PreviewText,
  renderPreview,
} from '../../mail/previews/render-preview.ts'
import { withoutFilled } from '../../mail/templates/filled-keys.ts'
import { findForeignSyntax, isForeignName } from '../../mail/templates/foreign-syntax.ts'
import { nameVariables } from '../../mail/templates/named-variables.ts'
import { suggestForSlip, suggestVariable } from '../../mail/templates/suggest-variable.ts'
import { templateNotFound } from '../../mail/templates/templates.ts'
import { checkFields } from '../../mail/templates/validate.ts'
import { loadContact } from '../../people/contacts/read/find-contact.ts'
import { mergeData, parseData } from '../../people/contacts/write/data.ts'
import { loadCampaign } from './campaign.ts'

/**
 * Exactly one of `body`, `templateId` and `campaignId` is given; `subject` and `type` replace those
 * of the template or campaign.
 */
type RenderRequest = {
  subject?: string | undefined
  body?: string | undefined
  templateId?: string | undefined
  campaignId?: string | undefined
  type?: ContentClass | undefined
  /** The contact that the text is rendered for. */
  contactId?: string | undefined
  data?: unknown
}

type RenderDeps = PreviewDeps & Pick<Base, 'store' | 'directory'>

const DEFAULT_TYPE: ContentClass = 'MARKETING'
/** At most this many variables without a value are reported. */
const MAX_MISSING = 20

/**
 * @throws AppError TEMPLATE_NOT_FOUND, CAMPAIGN_NOT_FOUND, CONTACT_NOT_FOUND; VALIDATION_ERROR for a
 *   wrong combination of fields, sizes and data; BAD_REQUEST for template syntax, with line and
 *   column, and for a text that takes too much time or memory
 */
export async function renderRequest(
  deps: RenderDeps,
  project: Project,
  request: RenderRequest,
): Promise<RenderedPreview> {
  checkCombination(request)
  const data = parseData(request.data)
  await checkFields(deps, { subject: request.subject, body: request.body })
  const text = await findText(deps, project, request)
  const { contactId } = request
  const reader =
    contactId === undefined
      ? NO_CONTACT
      : await loadContact(deps, { projectId: project.id, id: contactId })
  const preview = toPreview(await renderPreview(deps, { project, text, reader, data }))
  const values = { ...mergeData(reader.data, data.changes), ...data.variables }
  const warnings = [...preview.warnings, ...listForeign(text, values)]
  if (contactId === undefined) return { ...preview, warnings }
  warnings.push(...(await findMissing(deps, text, { projectId: project.id, values })))
  return { ...preview, warnings }
}

type TemplateValues = Record<string, unknown>

/** Lists placeholders of other services, except names that have a value. */
function listForeign({ subject, body }: PreviewText, values: TemplateValues): string[] {
  const found = findForeignSyntax([subject, body], (name) => Object.hasOwn(values, name))
  return found.map(({ message, fix }) => `${message} ${fix}`)
}

/**
 * Warns of variables that the contact lacks. A variable with a fallback or in a tag is reported
 * only if no contact has it and its name seems to be a slip. Other work may run between two
 * variables.
 */
async function findMissing(
  { store }: Pick<RenderDeps, 'store'>,
  { subject, body }: PreviewText,
  { projectId, values }: { projectId: string; values: TemplateValues },
): Promise<string[]> {
  const keys = Object.keys(values)
  const effort = newEffort()
  const isMissing = (name: string) =>
    !isForeignName(name) &&
    (!Object.hasOwn(values, name) || values[name] === null || values[name] === '')
  const warnings: string[] = []
  const { printed, guarded } = nameVariables([subject, body], {
    hasContact: Object.hasOwn(values, CONTACT),
  })
  for (const name of printed.filter(isMissing).slice(0, MAX_MISSING)) {
    const hint = suggestVariable(name, keys, effort)
    warnings.push(
      `The contact has no value for {{${name}}}.${hint === undefined ? '' : ` ${hint}`}`,
    )
    await setImmediate()
  }
  let compared = 0
  for await (const name of withoutFilled(store.read, projectId, guarded.filter(isMissing))) {
    const hint = suggestForSlip(name, keys, effort)
    if (hint !== undefined) warnings.push(`No contact has a value for {{${name}}}. ${hint}`)
    compared += 1
    if (compared === MAX_MISSING) break
    await setImmediate()
  }
  return warnings
}

function checkCombination({ subject, body, templateId, campaignId }: RenderRequest): void {
  const given = [body, templateId, campaignId].filter((source) => source !== undefined)
  if (given.length !== 1) {
    const message = 'Exactly one of body, templateId and campaignId is required'
    throw invalid([{ field: 'body', code: 'custom', message }])
  }
  if (body !== undefined && subject === undefined) {
    throw invalid([{ field: 'subject', code: 'required', message: 'Required beside body' }])
  }
}

async function findText(
  deps: RenderDeps,
  project: Project,
  { subject, body, type, ...request }: RenderRequest,
): Promise<PreviewText> {
  if (body !== undefined) return { subject: subject ?? '', body, type: type ?? DEFAULT_TYPE }
  const stored = await findStored(deps, project.id, request)
  return {
    subject: subject ?? stored.subject,
    body: stored.body,
    type: type ?? stored.type,
  }
}

async function findStored(
  { store, directory }: RenderDeps,
  projectId: string,
  { templateId, campaignId }: Pick<RenderRequest, 'templateId' | 'campaignId'>,
): Promise<PreviewText> {
  if (templateId === undefined) return loadCampaign(store.read, { projectId, id: campaignId ?? '' })
  const template = await directory.findTemplate(projectId, templateId)
  if (template === undefined) throw templateNotFound(templateId)
  return template
}

function toPreview({ subject, html, text, faults }: RenderedMessage): RenderedPreview {
  const shown = html ?? ''
  const warnings = faults.map(describePartFault)
  return { subject, html: shown, text, sizeBytes: Buffer.byteLength(shown), warnings }
}

/**
 * Describes a fault with which a send would go out, such as `The body has a fault in line 1, column
 * 4: undefined filter: shout`.
 */
export function describePartFault({ part, line, column, message }: PartFault): string {
  const place = line === null || column === null ? '' : ` in line ${line}, column ${column}`
  return `The ${part} has a fault${place}: ${message}`
}
