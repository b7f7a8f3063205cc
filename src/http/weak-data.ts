/** Warnings of `data` that has no effect, or not the one that it was meant to have. */
import { type FieldWarning, wrongTypeText } from '../base/errors.ts'
import { RESERVED_KEYS } from '../features/people/contacts/write/data.ts'

type WeakTexts = {
  /** What becomes of data that is no object. */
  otherType?: string
  /** What becomes of a variable of the service. */
  ownName?: string
  /** Variables that no data sets. */
  ownNames?: ReadonlySet<string>
}

/** In the templates of an email, these stand for the contact. A project may go without a `postalAddress`. */
const IN_TEMPLATES: ReadonlySet<string> = new Set([...RESERVED_KEYS, 'subscribed'])

const NO_VARIABLES = 'it sets no variables'
const OWN_VALUE = "In templates the service's own value wins, so this one is not shown"

/** Of a tracked event, which has whatever `data` is. */
export const IN_EVENTS: WeakTexts = {
  otherType: 'the event has it, and the contact gets no data',
  ownNames: new Set(),
}

/** Of the data of a contact. */
export const IN_CONTACTS: WeakTexts = {
  ownName: 'Contacts have no such data: the name belongs to the service, so it was ignored',
  ownNames: RESERVED_KEYS,
}

/** Of a request that renders templates, unless `texts` say otherwise. */
export function findWeakData(
  data: unknown,
  { otherType = NO_VARIABLES, ownName = OWN_VALUE, ownNames = IN_TEMPLATES }: WeakTexts = {},
): FieldWarning[] {
  if (data === undefined || data === null || isEmpty(data)) return []
  if (typeof data !== 'object' || Array.isArray(data)) {
    const received = Array.isArray(data) ? 'array' : typeof data
    const message = `${wrongTypeText('an object', received)}: ${otherType}`
    return [{ field: 'data', message, suggestion: 'an object' }]
  }
  return [...ownNames]
    .filter((name) => Object.hasOwn(data, name))
    .map((name) => ({ field: `data.${name}`, message: ownName, suggestion: 'Use another name' }))
}

/** No data: PHP writes an object without keys as `[]`. */
function isEmpty(data: unknown): boolean {
  return data === '' || (Array.isArray(data) && data.length === 0)
}

/** As a text, where clients have warnings so. */
export function warningText({ field, message }: Pick<FieldWarning, 'field' | 'message'>): string {
  return `${field}: ${message}`
}
