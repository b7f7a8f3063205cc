/**
 * Validates the fields of a template, and the size of templates, both of stored ones and of those in a send request.
 */
import {
  AppError,
  type FieldError,
  invalid,
  invalidField,
  NOT_ONE_LINE_TEXT,
  tooLongText,
} from '../../../base/errors.ts'
import type { ParsedAddress } from '../../../formats/address/address.ts'
import { costOfText, MAX_QUICK_COST_US } from '../../../formats/compose/message-cost.ts'
import { MAX_SUBJECT_LENGTH } from '../../../formats/limits.ts'
import { isOneFieldLine } from '../../../formats/one-line.ts'
import { MAX_MARKERS, MAX_TEMPLATE_LENGTH } from '../../../formats/template/limits.ts'
import {
  checkTemplate,
  countMarkers,
  type TemplateFault,
} from '../../../formats/template/template.ts'
import type { CheckedTemplate } from '../../../outbound/composing/texts.ts'
import {
  MAX_DESCRIPTION_LENGTH,
  MAX_FROM_NAME_LENGTH,
  MAX_NAME_LENGTH,
} from '../../../records/limits.ts'
import { CONTENT_CLASSES } from '../../../records/words.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { Template } from '../../../store/schema/messages.ts'
import type { ContentClass } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { unverifiedSender } from '../domains/unverified-sender.ts'

type TemplateFields = {
  name: string
  description: string | null
  subject: string
  /** The body, in HTML. */
  body: string
  from: ParsedAddress
  fromName: string | null
  replyTo: ParsedAddress | null
  type: ContentClass
}

/** Fields that a change sets; undefined means that the field stays. */
export type TemplateChanges = { [Name in keyof TemplateFields]?: TemplateFields[Name] | undefined }

type CheckDeps = Pick<Base, 'outbound'>

type TextRule = { min: number; max: number; isLine: boolean }

const TEXT_RULES: Record<'name' | 'description' | 'subject' | 'body' | 'fromName', TextRule> = {
  name: { min: 1, max: MAX_NAME_LENGTH, isLine: true },
  description: { min: 0, max: MAX_DESCRIPTION_LENGTH, isLine: false },
  subject: { min: 1, max: MAX_SUBJECT_LENGTH, isLine: true },
  body: { min: 1, max: MAX_TEMPLATE_LENGTH, isLine: false },
  fromName: { min: 0, max: MAX_FROM_NAME_LENGTH, isLine: true },
}

const TYPES: readonly string[] = CONTENT_CLASSES

const TOO_COMPLEX = 'The template takes too much time or memory to parse'

/** Loads the texts of the record that is to change. */
type LoadStored = () => Promise<Pick<Template, 'subject' | 'body'> | undefined>

/** The fields of a new template, with those that it needs at least. */
export type NewFields = TemplateChanges & Pick<TemplateFields, 'name' | 'subject' | 'body' | 'from'>

const DEFAULT_TYPE: ContentClass = 'MARKETING'

/** The length up to which a text has no fault of size: a marker takes at least two characters. */
const MAX_SHORT_TEXT = Math.min(2 * MAX_MARKERS, MAX_TEMPLATE_LENGTH)

/**
 * Checks the fields that are present. `loadStored`: asked for only when a text has a fault of syntax. A text that
 * is sent back as it is stored was checked when it was saved, by the rules of that time.
 * @throws AppError VALIDATION_ERROR (lengths, number of tags, line breaks, type, cost of parsing);
 *   BAD_REQUEST for template syntax, with `details` `{ field, line, column }` of the first fault
 */
export async function checkFields(
  deps: CheckDeps,
  fields: TemplateChanges,
  loadStored?: LoadStored,
): Promise<void> {
  const wrong = Object.entries(TEXT_RULES).flatMap(([field, rule]) =>
    checkText(field, fields[field as keyof typeof TEXT_RULES], rule),
  )
  if (fields.type !== undefined && !TYPES.includes(fields.type)) {
    const message = `Expected one of ${TYPES.join(', ')}`
    wrong.push({ field: 'type', code: 'invalid_enum_value', message })
  }
  if (wrong.length === 0) {
    wrong.push(...checkTemplateSizes({ subject: fields.subject, body: fields.body }))
  }
  if (wrong.length > 0) throw invalid(wrong)
  await checkSyntax(deps, fields, loadStored)
}

/** @throws AppError FORBIDDEN unless the sender's domain is verified for the project */
export async function requireSender(
  tx: Pick<Tx, 'select'>,
  projectId: string,
  from: Pick<ParsedAddress, 'domain'>,
): Promise<void> {
  const isVerifiedDomain = and(
    eq(domains.projectId, projectId),
    eq(domains.domain, from.domain),
    eq(domains.isVerified, true),
  )
  const known = await tx.select({ id: domains.id }).from(domains).where(isVerifiedDomain).get()
  if (known !== undefined) return
  throw await unverifiedSender(tx, { projectId, domain: from.domain })
}

/**
 * Finds a fault of syntax. A text without a marker has none. Parses a cheap template here, and any other
 * in a composing thread.
 */
export async function findTemplateFault(
  { outbound }: CheckDeps,
  source: string,
): Promise<CheckedTemplate> {
  if (!source.includes('{{') && !source.includes('{%')) return undefined
  const isQuick = costOfText(source) <= MAX_QUICK_COST_US
  return isQuick ? checkTemplate(source) : outbound.checkTemplate(source)
}

/** Returns the columns of a new template. */
export function toNewColumns(fields: NewFields) {
  return {
    name: fields.name,
    description: fields.description ?? null,
    subject: fields.subject,
    body: fields.body,
    fromAddress: fields.from.address,
    fromDomain: fields.from.domain,
    fromName: fields.fromName ?? null,
    replyTo: fields.replyTo?.address ?? null,
    type: fields.type ?? DEFAULT_TYPE,
  }
}

/** Returns the columns of the fields that are present. */
export function toColumns(fields: TemplateChanges): Partial<Template> {
  const { from, replyTo, ...rest } = fields
  const columns = {
    ...rest,
    fromAddress: from?.address,
    fromDomain: from?.domain,
    replyTo: replyTo === null ? null : replyTo?.address,
  }
  const given = Object.entries(columns).filter(([, value]) => value !== undefined)
  return Object.fromEntries(given)
}

/** Returns the errors by field. Text without placeholders is not a template. */
export function checkTemplateSizes(
  texts: Readonly<Record<string, string | undefined>>,
): FieldError[] {
  return Object.entries(texts).flatMap(([field, text]) => {
    const message = text === undefined ? undefined : sizeFault(text)
    return message === undefined ? [] : [{ field, code: 'too_big', message }]
  })
}

function checkText(field: string, text: string | null | undefined, rule: TextRule): FieldError[] {
  if (text === undefined || text === null) return []
  if (text.length < rule.min) return [{ field, code: 'too_small', message: 'Must not be empty' }]
  if (text.length > rule.max) {
    return [{ field, code: 'too_big', message: tooLongText(rule.max) }]
  }
  if (!rule.isLine || isOneFieldLine(text)) return []
  return [{ field, code: 'invalid_string', message: NOT_ONE_LINE_TEXT }]
}

async function checkSyntax(
  deps: CheckDeps,
  texts: TemplateChanges,
  loadStored?: LoadStored,
): Promise<void> {
  const faults: ({ field: string } & TemplateFault)[] = []
  for (const field of ['subject', 'body'] as const) {
    const source = texts[field]
    const fault = source === undefined ? undefined : await findTemplateFault(deps, source)
    if (fault === undefined || source === (await loadStored?.())?.[field]) continue
    if (fault === 'too heavy') throw invalidField(field, 'too_complex', TOO_COMPLEX)
    faults.push({ field, ...fault })
  }
  const [first] = faults
  if (first === undefined) return
  const fields = faults.map(({ field, message, line, column }) => ({
    field,
    code: 'template_syntax',
    message: `Line ${line}, column ${column}: ${message}`,
  }))
  const { field, line, column } = first
  const text = `The template's ${field} has a fault in line ${line}, column ${column}.`
  throw new AppError('BAD_REQUEST', text, { fields, details: { field, line, column } })
}

function sizeFault(text: string): string | undefined {
  if (text.length <= MAX_SHORT_TEXT) return undefined
  const markers = countMarkers(text)
  if (markers > MAX_MARKERS) return `More than ${MAX_MARKERS} placeholders and tags`
  if (markers === 0 || text.length <= MAX_TEMPLATE_LENGTH) return undefined
  return `Text with placeholders may have at most ${MAX_TEMPLATE_LENGTH} characters`
}
