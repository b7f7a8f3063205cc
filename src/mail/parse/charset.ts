/**
 * Decodes octets by the label of their charset. A label that is missing, unknown or ASCII says nothing
 * about octets above 127: the charset is then guessed, first UTF-8, last windows-1252, which every
 * octet fits. Nothing here throws. The Encoding Standard defines the labels; iconv-lite has older ones.
 */
import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'

export type DecodedOctets = {
  text: string
  /** Places where octets do not fit the charset; the text has U+FFFD there. */
  replaced: number
  /** In lower case, as it was used. */
  charset: string
  /** The label did not say the charset, or not the right one. */
  isGuessed: boolean
}

/** Labels that do not define octets above 127. */
const UNDECLARED =
  /^(?:|binary|(?:us-?)?ascii|ansi_x3\.4-19(?:68|86)|[78]-?bit|unknown|x-unknown|unknown-8bit|default|x-user-defined|none|null)$/

const ALIASES: Readonly<Record<string, string>> = {
  cp932: 'shift_jis',
  cp936: 'gbk',
  cp949: 'euc-kr',
  cp950: 'big5',
  'iso-2022-jp-1': 'iso-2022-jp',
  'iso-2022-jp-2': 'iso-2022-jp',
  'iso-2022-jp-3': 'iso-2022-jp',
  'iso-2022-jp-ms': 'iso-2022-jp',
  cp50220: 'iso-2022-jp',
  cp50221: 'iso-2022-jp',
  cp50222: 'iso-2022-jp',
  utf8mb4: 'utf-8',
  'utf-8mb4': 'utf-8',
  // iconv-lite looks for a byte order mark; the Encoding Standard takes these for little-endian.
  'utf-16': 'utf16',
  'ucs-2': 'utf16',
  'iso-10646-ucs-2': 'utf16',
  unicode: 'utf16',
  'unicode-1-1-utf-7': 'utf-7',
  'unicode-2-0-utf-7': 'utf-7',
}

/** Designations of ISO-2022-JP (RFC 1468, RFC 1554, JIS X 0201). */
const ESCAPE = '\\x1b(?:\\$[@B]|\\$\\(D|\\([BJI])'
const EMPTY = new RegExp(`${ESCAPE}(?=${ESCAPE})`, 'g')
const HAS_ESCAPE = /\x1b(?:\$[@B]|\([JI])/
const REPLACEMENT = '\ufffd'

/** `guesses`: charsets that the rest of the message declares, tried in order when `label` says none. */
export function decodeOctets(
  octets: Buffer,
  label: string | undefined,
  guesses: readonly string[] = [],
): DecodedOctets {
  const name = canonicalLabel(label)
  const charset = name === undefined ? undefined : findCharset(name)
  if (charset === undefined) return decodeUndeclared(octets, guesses)
  const decoded = decodeAs(octets, charset)
  if (decoded.replaced > 0 && charset !== 'utf-8' && isUtf8(octets)) {
    return { ...decodeAs(octets, 'utf-8'), isGuessed: true }
  }
  return { ...decoded, isGuessed: false }
}

/** Whether a label names a charset that octets above 127 can be decoded by. */
export function isKnownCharset(label: string): boolean {
  const name = canonicalLabel(label)
  return name !== undefined && findCharset(name) !== undefined
}

/** Undefined for a label that does not define octets above 127. */
function canonicalLabel(label: string | undefined): string | undefined {
  const trimmed = (label ?? '').trim().toLowerCase()
  const bare = trimmed.replace(/^["']+|["']+$/g, '').replace(/\*[\w-]*$/, '')
  if (UNDECLARED.test(bare)) return undefined
  const name = bare
    .replace(/^(?:win|windows|x-cp|cp)[-_]?(125\d)$/, 'windows-$1')
    .replace(/^(?:iso|latin)?[-_]?8859[-_](\d{1,2})(?:-[ie])?$/, 'iso-8859-$1')
    .replace(/^utf[-_]?(8|16|32|7)$/, 'utf-$1')
  return ALIASES[name] ?? name
}

/** The name that `decode` takes; undefined if no decoder knows the label. */
function findCharset(name: string): string | undefined {
  if (name === 'utf16') return name
  try {
    return new TextDecoder(name).encoding
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return /^[\w.:-]{1,40}$/.test(name) && iconv.encodingExists(name) ? name : undefined
  }
}

function decodeUndeclared(octets: Buffer, guesses: readonly string[]): DecodedOctets {
  const isAscii = !octets.some((octet) => octet > 0x7f)
  if (isAscii) {
    const text = octets.toString('latin1')
    if (!HAS_ESCAPE.test(text)) {
      return { text, replaced: 0, charset: 'us-ascii', isGuessed: false }
    }
    return { ...decodeAs(octets, 'iso-2022-jp'), isGuessed: true }
  }
  if (isUtf8(octets)) return { ...decodeAs(octets, 'utf-8'), isGuessed: true }
  for (const guess of guesses) {
    const name = canonicalLabel(guess)
    const charset = name === undefined ? undefined : findCharset(name)
    if (charset === undefined || charset === 'utf-8') continue
    const decoded = decodeAs(octets, charset)
    if (decoded.replaced === 0) return { ...decoded, isGuessed: true }
  }
  return { ...decodeAs(octets, 'windows-1252'), isGuessed: true }
}

function decodeAs(octets: Buffer, charset: string): Omit<DecodedOctets, 'isGuessed'> {
  const text = decode(octets, charset)
  return { text, replaced: countReplaced(text, octets, charset), charset }
}

function decode(octets: Buffer, charset: string): string {
  // The Encoding Standard takes a designation that nothing follows for an error.
  if (charset === 'iso-2022-jp') {
    const bare = octets.toString('latin1').replace(EMPTY, '')
    return new TextDecoder(charset).decode(Buffer.from(bare, 'latin1'))
  }
  try {
    return new TextDecoder(charset).decode(octets)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return iconv.decode(octets, charset)
  }
}

/** A U+FFFD that UTF-8 itself contains is not damage. */
function countReplaced(text: string, octets: Buffer, charset: string): number {
  if (!text.includes(REPLACEMENT)) return 0
  let found = 0
  for (let at = text.indexOf(REPLACEMENT); at !== -1; at = text.indexOf(REPLACEMENT, at + 1))
    found += 1
  return charset === 'utf-8' ? found - countOf(octets, Buffer.from(REPLACEMENT)) : found
}

function countOf(octets: Buffer, wanted: Buffer): number {
  let count = 0
  for (let at = octets.indexOf(wanted); at !== -1; at = octets.indexOf(wanted, at + 1)) count += 1
  return count
}
