/** The name of an event in a request. */
import { z } from 'zod'
import { NOT_ONE_LINE_TEXT, tooLongText } from '../../errors.ts'
import { MAX_EVENT_NAME_LENGTH } from '../../features/limits.ts'

/**
 * Any text that fits into a path when percent-encoded: no control characters, no lone surrogates,
 * and neither `.` nor `..`, which clients resolve even when encoded (RFC 3986, section 5.2.4).
 */
export const eventName = z
  .string()
  .min(1)
  .max(MAX_EVENT_NAME_LENGTH, tooLongText(MAX_EVENT_NAME_LENGTH))
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, NOT_ONE_LINE_TEXT)
  .regex(/^(?!\.{1,2}$)/, 'Must not be . or ..')
  .meta({ pattern: '^[^\\p{Cc}\\p{Cs}]*$' })
