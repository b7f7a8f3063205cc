/**
 * Base64 as callers submit it (RFC 4648 sections 4 and 5): either alphabet, white space anywhere,
 * padding optional. Scanning and decoding are linear in the length of the text and can be done in
 * steps.
 */
const OTHER = /[^A-Za-z0-9+/_\-\s]/
const PADDING = /={1,2}\s*$/
const SPACE = /\s/
/** Padding with the line ends that some encoders append. */
const MAX_PADDING_LENGTH = 64

/** Characters that are scanned in about a millisecond. */
export const MAX_QUICK_BASE64_LENGTH = 1024 * 1024

/** Octets in a line of encoded text (RFC 2045 section 6.8: 76 columns). */
const LINE_OCTETS = 57
/** About 1 MB of octets, in whole lines. */
export const BASE64_CHUNK_OCTETS = LINE_OCTETS * 18_396

type Base64Scan = {
  /** Scans the text up to `end`. */
  advance(end: number): void
  /** Whether the text scanned so far is base64 of at least one octet. */
  isBase64(): boolean
}

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
 * Each chunk but the last is a number of whole lines of encoded text.
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
