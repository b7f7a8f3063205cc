/** Warns of `data` that has no effect, or another effect than its client probably meant. */
import { type FieldWarning, wrongTypeText } from '../base/errors.ts'
import { RESERVED_KEYS } from '../features/people/contacts/write/data.ts'

type WeakTexts = {
  /** The effect of data that is no object, in words. */
  otherType?: string
  /** The effect of a name that the service itself uses, in words. */
  ownName?: string
  /** Names that the service itself uses, so data cannot set them. */
  ownNames?: ReadonlySet<string>
}

/**
 * Names that stand for values of the contact in templates, so data cannot set them. `postalAddress`
 * is not among them, because a project may have none.
 */
const IN_TEMPLATES: ReadonlySet<string> = new Set([...RESERVED_KEYS, 'subscribed'])

const NO_VARIABLES = 'it sets no variables'
const OWN_VALUE = "In templates the service's own value wins, so this one is not shown"

/** The texts for a tracked event, which keeps any `data`. */
export const EVENT_DATA_TEXTS: WeakTexts = {
  otherType: 'the event has it, and the contact gets no data',
  ownNames: new Set(),
}

/** The texts for the data of a contact. */
export const CONTACT_DATA_TEXTS: WeakTexts = {
  ownName: 'Contacts have no such data: the name belongs to the service, so it was ignored',
  ownNames: RESERVED_KEYS,
}

/**
 * Finds data without effect. If the caller gives no texts, the warnings speak of a request that
 * renders templates.
 */
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

/** The warning as a text, for answers whose clients expect texts. */
export function warningText({ field, message }: Pick<FieldWarning, 'field' | 'message'>): string {
  return `${field}: ${message}`
}
