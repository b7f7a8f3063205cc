/**
 * Decodes octets by the label of their charset. A missing label, an unknown one and ASCII say
 * nothing about octets above 127; the charset is then guessed: UTF-8 first, windows-1252 last,
 * because every octet fits it. Nothing here throws. The Encoding Standard defines the labels;
 * iconv-lite knows older ones, and `seven-bit.ts` decodes charsets that switch between states.
 */
import { isUtf8 } from 'node:buffer'
import iconv from 'iconv-lite'
import { decodeSevenBit, guessSevenBit, isSevenBit } from './seven-bit.ts'

type DecodedOctets = {
  text: string
  /** The number of places where octets do not fit the charset; the text has U+FFFD there. */
  replaced: number
  /** The charset that was used, in lower case. */
  charset: string
  /** The charset was guessed: the label named no charset, or a wrong one. */
  isGuessed: boolean
}

/** Labels that say nothing about octets above 127. */
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
  'iso-2022-cn-ext': 'iso-2022-cn',
  hz: 'hz-gb-2312',
  'hz-gb2312': 'hz-gb-2312',
  cp50220: 'iso-2022-jp',
  cp50221: 'iso-2022-jp',
  cp50222: 'iso-2022-jp',
  utf8mb4: 'utf-8',
  'utf-8mb4': 'utf-8',
  // The Encoding Standard takes these labels for little-endian; `utf16` of iconv-lite looks for a
  // byte order mark first.
  'utf-16': 'utf16',
  'ucs-2': 'utf16',
  'iso-10646-ucs-2': 'utf16',
  unicode: 'utf16',
  'unicode-1-1-utf-7': 'utf-7',
  'unicode-2-0-utf-7': 'utf-7',
}

const REPLACEMENT = '\ufffd'

/**
 * Decodes by `label`, or by a guess if the label does not help. `guesses`: charsets that the
 * message declares elsewhere, tried in order.
 */
export function decodeOctets(
  octets: Buffer,
  label: string | undefined,
  guesses: readonly string[] = [],
): DecodedOctets {
  const name = canonicalLabel(label)
  const charset = name === undefined ? undefined : findCharset(name)
  if (charset === undefined) return decodeUndeclared(octets, guesses)
  const decoded = decodeAs(octets, charset)
  if (decoded.replaced > 0 && charset !== 'utf-8' && isOtherUtf8(octets, charset)) {
    return { ...decodeAs(octets, 'utf-8'), isGuessed: true }
  }
  return { ...decoded, isGuessed: false }
}

/** Whether the label names a charset that can decode octets above 127. */
export function isKnownCharset(label: string): boolean {
  const name = canonicalLabel(label)
  return name !== undefined && findCharset(name) !== undefined
}

/** The usual name for a label; undefined for a label that says nothing about octets above 127. */
function canonicalLabel(label: string | undefined): string | undefined {
  const trimmed = (label ?? '').trim().toLowerCase()
  const bare = trimmed.replace(/^["']+|["']+$/g, '').replace(/\*[\w-]*$/, '')
  if (UNDECLARED.test(bare)) return undefined
  const name = bare
    .replace(/^(?:win|windows|x-cp|cp)[-_]?(125\d)$/, 'windows-$1')
    .replace(/^(?:iso|latin)?[-_]?8859[-_](\d{1,2})(?:-[ie])?$/, 'iso-8859-$1')
    .replace(/^utf[-_]?(8|16|32|7)$/, 'utf-$1')
    .replace(/^(?:cs)?iso[-_]?2022[-_]?(jp|kr|cn)/, 'iso-2022-$1')
  return ALIASES[name] ?? name
}

/** The name under which `decode` knows the charset; undefined if no decoder knows the label. */
function findCharset(name: string): string | undefined {
  if (name === 'utf16' || isSevenBit(name)) return name
  try {
    return new TextDecoder(name).encoding
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return /^[\w.:-]{1,40}$/.test(name) && iconv.encodingExists(name) ? name : undefined
  }
}

function decodeUndeclared(octets: Buffer, guesses: readonly string[]): DecodedOctets {
  if (isAscii(octets)) {
    const text = octets.toString('latin1')
    const charset = guessSevenBit(text, guesses.map(canonicalLabel))
    if (charset !== undefined) return { ...decodeAs(octets, charset), isGuessed: true }
    return { text, replaced: 0, charset: 'us-ascii', isGuessed: false }
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
  const decoded = decodeSevenBit(octets, charset)
  if (decoded !== undefined) return decoded
  try {
    return new TextDecoder(charset).decode(octets)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return iconv.decode(octets, charset)
  }
}

function isAscii(octets: Buffer): boolean {
  return !octets.some((octet) => octet > 0x7f)
}

/**
 * Whether octets are UTF-8 although `charset` is declared. ASCII octets are valid UTF-8, too, but
 * do not contradict a charset whose octets are all below 128.
 */
function isOtherUtf8(octets: Buffer, charset: string): boolean {
  return isUtf8(octets) && !(isSevenBit(charset) && isAscii(octets))
}

/**
 * Counts the U+FFFD that decoding made; in UTF-8, a U+FFFD that the octets themselves encode does
 * not count.
 */
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
