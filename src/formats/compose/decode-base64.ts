/**
 * The contents of files as callers submit them: base64 (RFC 4648 sections 4 and 5), in either alphabet,
 * with white space anywhere and optional padding, or a `data:` URI (RFC 2397). Scanning and decoding
 * base64 are linear in the length of the text and can be done in steps.
 */

const OTHER = /[^A-Za-z0-9+/_\-\s]/
const PADDING = /={1,2}\s*$/
const SPACE = /\s/
/**
 * Characters of padding at the end of base64, including the line ends that some encoders append.
 */
const MAX_PADDING_LENGTH = 64
/** Characters of base64 that can be scanned in about a millisecond. */
export const MAX_QUICK_BASE64_LENGTH = 1024 * 1024
/** Octets that one line of 76 base64 columns encodes (RFC 2045 section 6.8). */
const LINE_OCTETS = 57
/** Octets that are decoded at a time: about 1 MB, in whole lines. */
export const BASE64_CHUNK_OCTETS = LINE_OCTETS * 18_396

type Base64Scan = {
  /** Scans the text up to `end`. */
  advance(end: number): void
  /** Whether the text scanned so far is base64 of at least one octet. */
  isBase64(): boolean
}

type DataUri = {
  /** The media type as the URI has it; null if the URI has none. */
  mediaType: string | null
  /** Characters that `decode` must decode; 0 if the data is already base64. */
  encodedLength: number
  /** Returns the content as unchecked base64; undefined if the percent-encoding is malformed. */
  decode(): string | undefined
}

const DATA_PREFIX = /^data:/i
/** A `data:` URI is recognised only if its comma is within this number of characters. */
const MAX_HEAD_LENGTH = 1_024
const BASE64_FLAG = /;[\t ]*base64[\t ]*$/i
const PERCENT = 0x25

/** Scans a text in steps, to tell whether it is base64. */
export function scanBase64(text: string): Base64Scan {
  const last = text.length - paddingLength(text)
  let at = 0
  let digits = 0
  let isBroken = false
  return {
    advance(end) {
      const stretch = text.slice(at, Math.min(end, last))
      at = end
      if (isBroken || OTHER.test(stretch)) isBroken = true
      else digits += withoutSpace(stretch).length
    },
    // A single digit holds six bits, less than an octet.
    isBase64: () => !isBroken && digits >= 2 && digits % 4 !== 1,
  }
}

export function isBase64(text: string): boolean {
  const scan = scanBase64(text)
  scan.advance(text.length)
  return scan.isBase64()
}

/**
 * Decodes base64 in chunks of at most `BASE64_CHUNK_OCTETS`; `isBase64` must be true for the text.
 * Each chunk except the last holds a whole number of encoded lines.
 */
export function* decodeInChunks(text: string): Generator<Buffer> {
  const columns = (LINE_OCTETS / 3) * 4
  const stretch = (BASE64_CHUNK_OCTETS / 3) * 4 - columns
  let rest = ''
  for (let at = 0; at < text.length; at += stretch) {
    const digits = rest + withoutSpace(text.slice(at, at + stretch))
    const isLast = at + stretch >= text.length
    const end = isLast ? digits.length : digits.length - (digits.length % columns)
    rest = digits.slice(end)
    const octets = Buffer.from(digits.slice(0, end), 'base64')
    if (octets.length > 0) yield octets
  }
}

function paddingLength(text: string): number {
  return PADDING.exec(text.slice(-MAX_PADDING_LENGTH))?.[0].length ?? 0
}

function withoutSpace(text: string): string {
  return SPACE.test(text) ? text.replace(/\s+/g, '') : text
}

/** Whether the text begins as a `data:` URI. */
export function isDataUri(text: string): boolean {
  return DATA_PREFIX.test(text)
}

/**
 * Splits a `data:` URI; undefined if it has no comma. Base64 data is neither copied nor checked.
 * Only `decode` takes time, if the data is percent-encoded.
 */
export function readDataUri(text: string): DataUri | undefined {
  const head = text.slice(0, MAX_HEAD_LENGTH).replace(DATA_PREFIX, '')
  const comma = head.indexOf(',')
  if (comma === -1) return undefined
  const data = text.slice('data:'.length + comma + 1)
  const parameters = head.slice(0, comma)
  const isBase64 = BASE64_FLAG.test(parameters)
  const type = parameters.replace(BASE64_FLAG, '').trim()
  // A URI with parameters but no type has the type text/plain.
  const mediaType = type.startsWith(';') ? `text/plain${type}` : type || null
  if (isBase64 && !data.includes('%')) return { mediaType, encodedLength: 0, decode: () => data }
  const decode = () => percentDecode(data)?.toString(isBase64 ? 'latin1' : 'base64')
  return { mediaType, encodedLength: data.length, decode }
}

/**
 * Percent-decodes to octets. Characters outside ASCII, which a `data:` URI should not have, become
 * UTF-8.
 */
function percentDecode(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'utf8')
  let length = 0
  for (let at = 0; at < octets.length; at += 1) {
    let octet = octets[at] ?? 0
    if (octet === PERCENT) {
      const value = hexDigit(octets[at + 1]) * 16 + hexDigit(octets[at + 2])
      if (Number.isNaN(value)) return undefined
      octet = value
      at += 2
    }
    octets[length] = octet
    length += 1
  }
  return octets.subarray(0, length)
}

/** The value of the hexadecimal digit with this character code; NaN for another character. */
function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : Number.NaN
}
