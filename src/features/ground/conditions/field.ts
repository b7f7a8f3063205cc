/**
 * The fields of conditions:
 *
 *   email, subscribed, createdAt, updatedAt
 *   data.<key>          everything after the first dot is one key
 *   event.<name>        or the name alone with an event operator
 *   email.<activity>    sent, delivered, opened, clicked, bounced, complained: the events
 *                       email.sent, .delivery, .open, .click, .bounce, .complaint, whose names work
 *                       as well
 *   segment.<id>
 */

import { type FieldKind, isEventOperator } from '../../../records/operators.ts'
import { suggest } from './field-errors.ts'

export type ConditionField =
  | { kind: 'email' }
  | { kind: 'subscribed' }
  | { kind: 'instant'; column: 'createdAt' | 'updatedAt' }
  | { kind: 'data'; key: string }
  /**
   * `name`: the stored name of the event. `campaignId`: counts only events of this campaign's
   * email.
   */
  | { kind: 'event'; name: string; campaignId?: string }
  | { kind: 'segment'; id: string }

/**
 * The stored name of an event by its name in conditions, for all events of an email that was sent.
 */
export const MAIL_ACTIVITIES: ReadonlyMap<string, string> = new Map([
  ['email.sent', 'email.sent'],
  ['email.delivered', 'email.delivery'],
  ['email.opened', 'email.open'],
  ['email.clicked', 'email.click'],
  ['email.bounced', 'email.bounce'],
  ['email.complained', 'email.complaint'],
])
const STORED_ACTIVITIES = new Set(MAIL_ACTIVITIES.values())

const COLUMNS: readonly string[] = ['email', 'subscribed', 'createdAt', 'updatedAt']
const PREFIXES: readonly string[] = ['data', 'event', 'email', 'segment']
const FORMS = [...COLUMNS, 'data.<key>', 'event.<name>', 'email.<activity>', 'segment.<id>']

/** Parses a field; undefined for an unknown field. */
export function parseConditionField({
  field,
  operator,
  campaignId,
}: {
  field: string
  operator: unknown
  campaignId?: unknown
}): ConditionField | undefined {
  const parsed = parseName({ field, operator })
  if (parsed?.kind !== 'event' || typeof campaignId !== 'string') return parsed
  return { ...parsed, campaignId }
}

/** Whether the stored event is one that an email of a campaign can have. */
export function isMailActivity(name: string): boolean {
  return STORED_ACTIVITIES.has(name)
}

function parseName({
  field,
  operator,
}: {
  field: string
  operator: unknown
}): ConditionField | undefined {
  if (field === 'email' || field === 'subscribed') return { kind: field }
  if (field === 'createdAt' || field === 'updatedAt') return { kind: 'instant', column: field }
  const isEvent = isEventOperator(operator) && field !== ''
  const bare: ConditionField | undefined = isEvent ? { kind: 'event', name: field } : undefined
  const [prefix, rest] = split(field)
  if (rest === undefined) return bare
  if (rest === '') return PREFIXES.includes(prefix) ? undefined : bare
  if (prefix === 'data') return { kind: 'data', key: rest }
  if (prefix === 'event') return { kind: 'event', name: storedName(rest) ?? rest }
  if (prefix === 'email') return activity(field)
  if (prefix === 'segment' && !(isEvent && /\.(?:entry|exit)$/.test(rest))) {
    return { kind: 'segment', id: rest }
  }
  return bare
}

/** Returns the name under which events are stored: `email.opened` is an alias of `email.open`. */
export function storedEventName(name: string): string {
  return storedName(name) ?? name
}

/** Returns the names under which clients know the events of a name, the stored one first. */
export function spellingsOf(eventName: string): string[] {
  const stored = storedEventName(eventName)
  const aliases = [...MAIL_ACTIVITIES].filter(([, name]) => name === stored)
  return [...new Set([stored, ...aliases.map(([alias]) => alias)])]
}

/** Explains in an error message why `parseConditionField` returns undefined. */
export function explainConditionField({
  field,
  operator,
}: {
  field: string
  operator: unknown
}): string {
  const [prefix] = split(field)
  const isPrefixed = PREFIXES.includes(prefix) && field.includes('.')
  if (prefix === 'email' && isPrefixed) {
    const names = [...MAIL_ACTIVITIES.keys()]
    return `Unknown email activity; expected one of ${names.join(', ')}; other events are event.<name>.${suggest(field, names)}`
  }
  if (isPrefixed) return `Expected ${FORMS.find((form) => form.startsWith(`${prefix}.`))}`
  const isData = !isEventOperator(operator)
  return explainUnknown(field, { forms: FORMS, columns: COLUMNS, prefixes: PREFIXES, isData })
}

type Grammar = {
  forms: readonly string[]
  columns: readonly string[]
  prefixes: readonly string[]
  /** Whether the name may be a key of contact data whose prefix is missing. */
  isData: boolean
}

/**
 * Writes the error for an unknown field: lists the known fields, and suggests the field that was
 * probably meant. For conditions and workflows.
 */
export function explainUnknown(
  field: string,
  { forms, columns, prefixes, isData }: Grammar,
): string {
  const [prefix, rest = ''] = split(field)
  const expected = `Unknown field; expected one of ${forms.join(', ')}.`
  const close = rest === '' ? suggest(field, columns) : suggest(prefix, prefixes)
  if (close !== '') return expected + close.replace('"?', rest === '' ? '"?' : `.${rest}"?`)
  return isData && field !== '' ? `${expected} Data is "data.${field}"` : expected
}

export function describeField(kind: FieldKind, field: string): string {
  return kind === 'data' || kind === 'event' || kind === 'segment' ? `${kind} fields` : field
}

function activity(field: string): ConditionField | undefined {
  const name = storedName(field)
  return name === undefined ? undefined : { kind: 'event', name }
}

function storedName(name: string): string | undefined {
  return MAIL_ACTIVITIES.get(name) ?? (STORED_ACTIVITIES.has(name) ? name : undefined)
}

function split(field: string): [prefix: string, rest: string | undefined] {
  const dot = field.indexOf('.')
  return dot < 0 ? [field, undefined] : [field.slice(0, dot), field.slice(dot + 1)]
}
