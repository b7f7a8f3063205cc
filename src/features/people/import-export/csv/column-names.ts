/** Names of columns, as a header and a mapping have them, and the fields of contacts that they mean. */
import { isDataKey } from '../../contacts/write/data.ts'

/** The field for each header in lower case; null ignores the column. */
export type Mapping = readonly (readonly [header: string, field: string | null])[]

export const DATA_PREFIX = 'data.'

/** Returns a header in the form in which headers are compared. */
export function normalizeHeader(text: string): string {
  return toLine(text).trim().toLowerCase()
}

/** Joins the lines of a header: spreadsheet programs break long ones. */
export function toLine(text: string): string {
  return text.replace(/[\t\n\v\f\r]+/g, ' ')
}

/** Returns the key of a field of a contact's data; undefined for other fields. */
export function keyOf(field: string): string | undefined {
  return field.startsWith(DATA_PREFIX) ? field.slice(DATA_PREFIX.length) : undefined
}

/** Returns the field of a name in a mapping: `plan` and `data.plan` are the same. */
export function toField(word: string): string {
  if (word === 'email' || word === 'subscribed' || word === 'unsubscribed') return word
  return word.startsWith(DATA_PREFIX) ? word : DATA_PREFIX + word
}

/** Whether a mapping may use the name; reserved and invalid keys are excluded. */
export function isImportable(word: string): boolean {
  const key = keyOf(toField(word))
  return key === undefined || isDataKey(key)
}

export function isMapped(header: string, mapping: Mapping): boolean {
  return mapping.some(([name]) => name === header)
}

/** At most so many characters, for a text for people. */
export function shortenName(text: string, length = 40): string {
  return text.length > length ? `${text.slice(0, length)}…`.toWellFormed() : text
}
