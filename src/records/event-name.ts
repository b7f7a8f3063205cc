/**
 * The names of events: any text that fits into a path when percent-encoded. So a name has no control
 * characters and no lone surrogates, and is neither `.` nor `..`, which clients resolve even when
 * encoded (RFC 3986, section 5.2.4). It has 1 to `MAX_EVENT_NAME_LENGTH` characters.
 */
import { NOT_ONE_LINE_TEXT } from '../base/errors.ts'

/** The patterns that a name must match, each with the error message for a name that does not. */
export const EVENT_NAME_RULES: readonly { pattern: RegExp; message: string }[] = [
  { pattern: /^[^\p{Cc}\p{Cs}]*$/u, message: NOT_ONE_LINE_TEXT },
  { pattern: /^(?!\.{1,2}$)/, message: 'Must not be . or ..' },
]

/** The error message for a name with forbidden characters; undefined for a valid name. */
export function faultInEventName(name: string): string | undefined {
  return EVENT_NAME_RULES.find(({ pattern }) => !pattern.test(name))?.message
}
