import { MAX_SHOWN_ADDRESS_LENGTH } from '../limits.ts'
import { encodeWords, needsEncodedWords } from './encoded-word.ts'
import {
  assertOneLine,
  firstWordWidth,
  fitsLines,
  formatField,
  formatTextField,
  trimBlanks,
} from './header-field.ts'
import { unquote } from './quoted-string.ts'

/** `address` in wire form: `local@a-label`; the local part may be UTF-8 (RFC 6532). */
export type Mailbox = { address: string; name: string | null }

const MAX_QUOTED_NAME_LENGTH = 60
const ADDRESS = /^[^\s\p{Cc}<>()[\]\\,;:"@]+@[^\s\p{Cc}<>()\\,;:"@]+$/u
/**
 * A quoted string, with its closing quote if it is closed; or another token of a list of addresses.
 */
const ADDRESS_TOKENS = /"(?:[^"\\]|\\.)*("?)|<[^<>]*>|[^ \t"<,;:]+|[ \t]+|./gsu
const UNQUOTED_TOKENS = /<[^<>]*>|[^ \t"<,;:]+|[ \t]+|./gsu

/**
 * A field with one mailbox (RFC 5322 section 3.4).
 * @throws TypeError if the address is not exactly one address, or the name contains CR, LF or NUL
 */
export function formatMailboxField(field: string, { address, name }: Mailbox): string {
  if (address.length > MAX_SHOWN_ADDRESS_LENGTH || !ADDRESS.test(address)) {
    throw new TypeError(`${field} address is not in wire form`)
  }
  assertOneLine(`${field} name`, name ?? '')
  const phrase = formatPhrase(trimBlanks(name ?? ''), firstWordWidth(field))
  return formatField(field, phrase === '' ? address : `${phrase} <${address}>`)
}

/**
 * Formats a field of addresses that a caller wrote, whose names are quoted, bare or already
 * encoded. Only the names become encoded words; the addresses keep their UTF-8, so that replies
 * reach them. If an address is impossible, the whole value is encoded.
 */
export function formatAddressField(field: string, value: string): string {
  const isPlain = !/[^\t\x20-\x7e]/.test(value)
  const encoded = isPlain ? value : encodeNames(value, firstWordWidth(field))
  const isSafe = !/[[\p{C}\p{Z}]--[\t ]]/v.test(encoded) && fitsLines(encoded)
  return isSafe ? formatField(field, encoded) : formatTextField(field, value)
}

function formatPhrase(name: string, firstWidth: number): string {
  if (name === '') return ''
  if (needsEncodedWords(name) || name.includes('\t')) return encodeWords(name, firstWidth)
  if (name.length > MAX_QUOTED_NAME_LENGTH) return encodeWords(name, firstWidth)
  if (/^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/.test(name)) return name
  return `"${name.replace(/["\\]/g, '\\$&')}"`
}

/** Encodes adjacent names together, because readers drop the space between encoded words. */
function encodeNames(value: string, firstWidth: number): string {
  let encoded = ''
  let name = ''
  let gap = ''
  const endName = () => {
    if (name !== '') encoded += encodeWords(name, encoded === '' ? firstWidth : undefined)
    encoded += gap
    name = ''
    gap = ''
  }
  for (const token of readTokens(value)) {
    if (/^[ \t]/.test(token)) {
      gap += token
    } else if (isEncodableName(token)) {
      if (name === '') endName()
      name += gap + unquote(token)
      gap = ''
    } else {
      endName()
      encoded += token
    }
  }
  endName()
  return encoded
}

/** After a quote that is never closed, further quotes are ordinary characters. */
function* readTokens(value: string): Generator<string> {
  for (const { 0: token, 1: closing, index } of value.matchAll(ADDRESS_TOKENS)) {
    if (token.startsWith('"') && closing === '') {
      yield* value.slice(index).match(UNQUOTED_TOKENS) ?? []
      return
    }
    yield token
  }
}

function isEncodableName(token: string): boolean {
  if (token.startsWith('<') || !/[^\t\x20-\x7e]/.test(token)) return false
  return token.startsWith('"') || !token.includes('@')
}
