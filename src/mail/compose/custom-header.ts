/**
 * Header fields that whoever hands in a message may add to it (contract section 0), whichever way
 * it comes. Those that say who wrote it, to whom and by which way, or that its MIME structure and
 * signatures depend on, are ours alone.
 */
import { MAX_HEADER_NAME_LENGTH } from '../limits.ts'

/** RFC 5322 section 2.2: printable ASCII but the colon, narrowed to tokens (RFC 9110). */
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

const names = [
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
const prefixes = ['arc-', 'resent-', 'content-', 'x-pillarbox-']

/** Those that are refused, for people. */
export const REFUSED_HEADERS: readonly string[] = [...names, ...prefixes.map((one) => `${one}*`)]

const refusedNames = new Set(names)

export function isHeaderName(name: string): boolean {
  return token.test(name) && name.length <= MAX_HEADER_NAME_LENGTH
}

/** Whether only we may write this field. */
export function isRefusedHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return refusedNames.has(lower) || prefixes.some((prefix) => lower.startsWith(prefix))
}
