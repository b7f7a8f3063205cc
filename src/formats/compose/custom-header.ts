/**
 * Header fields that a caller may add to a message, over HTTP and SMTP alike. Fields that name sender,
 * recipients or route, and fields that the MIME structure or the signatures depend on, are written
 * by Pillarbox only.
 */
import { MAX_HEADER_NAME_LENGTH } from '../limits.ts'

/**
 * A field name (RFC 5322 section 2.2) with only those characters that RFC 9110 allows in a token.
 */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const REFUSED_NAMES = [
  'from',
  'sender',
  'to',
  'cc',
  'bcc',
  'return-path',
  'received',
  'dkim-signature',
  'authentication-results',
  'mime-version',
  'date',
]
const REFUSED_PREFIXES = ['arc-', 'resent-', 'content-', 'x-pillarbox-']

/** The names of the refused fields, in the spelling that users see. */
export const REFUSED_HEADERS: readonly string[] = [
  ...REFUSED_NAMES,
  ...REFUSED_PREFIXES.map((one) => `${one}*`),
]

const REFUSED_NAME_SET = new Set(REFUSED_NAMES)

export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name) && name.length <= MAX_HEADER_NAME_LENGTH
}

/** Whether only Pillarbox may write this field. */
export function isRefusedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return REFUSED_NAME_SET.has(lower) || REFUSED_PREFIXES.some((prefix) => lower.startsWith(prefix))
}
