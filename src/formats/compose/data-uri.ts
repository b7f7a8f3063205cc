/**
 * `data:` URIs (RFC 2397) as callers give them for the content of a file. Base64 is not copied or
 * checked here; what is percent-encoded is decoded when it is asked for, because that takes time.
 */

type DataUri = {
  /** As written; null without one. */
  mediaType: string | null
  /** Characters that `decode` decodes: 0 for base64 that is taken as it is. */
  encodedLength: number
  /** The content as base64, unchecked; undefined for malformed percent-encoding. */
  decode(): string | undefined
}

const PREFIX = /^data:/i
/** Of the part before the comma. */
const MAX_HEAD_LENGTH = 1_024
const BASE64_FLAG = /;[\t ]*base64[\t ]*$/i
const PERCENT = 0x25

export function isDataUri(text: string): boolean {
  return PREFIX.test(text)
}

/** Undefined when the URI has no comma. */
export function readDataUri(text: string): DataUri | undefined {
  const head = text.slice(0, MAX_HEAD_LENGTH).replace(PREFIX, '')
  const comma = head.indexOf(',')
  if (comma === -1) return undefined
  const data = text.slice('data:'.length + comma + 1)
  const parameters = head.slice(0, comma)
  const isBase64 = BASE64_FLAG.test(parameters)
  const type = parameters.replace(BASE64_FLAG, '').trim()
  // Parameters alone belong to text/plain.
  const mediaType = type.startsWith(';') ? `text/plain${type}` : type || null
  if (isBase64 && !data.includes('%')) return { mediaType, encodedLength: 0, decode: () => data }
  const decode = () => percentDecode(data)?.toString(isBase64 ? 'latin1' : 'base64')
  return { mediaType, encodedLength: data.length, decode }
}

/** Characters outside ASCII, which such a URI should not have, become UTF-8. */
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

/** The value of the digit with this code; NaN for what is none. */
function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x61 + 10 : Number.NaN
}
