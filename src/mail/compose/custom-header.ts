/**
 * Header fields that whoever hands in a message may add to it (contract section 0), whichever way
 * it comes. Those that say who wrote it, to whom and by which way, or that its MIME structure and
 * signatures depend on, are ours alone.
 */
import { MAX_HEADER_NAME_LENGTH } from '../limits.ts'

/** RFC 5322 section 2.2: printable ASCII but the colon, narrowed to tokens (RFC 9110). */
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

/** Those that are refused, for people. */
export const REFUSED_HEADERS: readonly string[] = [
  ...REFUSED_NAMES,
  ...REFUSED_PREFIXES.map((one) => `${one}*`),
]

const REFUSED_NAME_SET = new Set(REFUSED_NAMES)

export function isHeaderName(name: string): boolean {
  return HEADER_NAME.test(name) && name.length <= MAX_HEADER_NAME_LENGTH
}

/** Whether only we may write this field. */
export function isRefusedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return REFUSED_NAME_SET.has(lower) || REFUSED_PREFIXES.some((prefix) => lower.startsWith(prefix))
}
