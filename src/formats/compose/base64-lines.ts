/** Encodes octets as lines of base64 (RFC 2045 section 6.8). */
import { LINE_WIDTH } from '../limits.ts'

/** Returns lines of 76 columns, with CRLF between the lines and none after the last line. */
export function encodeBase64Lines(octets: Uint8Array): string {
  const source = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  const encoded = source.toString('base64')
  if (encoded.length <= LINE_WIDTH) return encoded
  const breaksLength = (Math.ceil(encoded.length / LINE_WIDTH) - 1) * 2
  const out = Buffer.allocUnsafe(encoded.length + breaksLength)
  // The base64 text is written to the end of the buffer and then moved forward line by line, which
  // needs no other memory.
  out.write(encoded, breaksLength, 'latin1')
  let at = 0
  for (let line = breaksLength; line < out.length; line += LINE_WIDTH) {
    if (at > 0) {
      out[at++] = 0x0d
      out[at++] = 0x0a
    }
    out.copyWithin(at, line, line + LINE_WIDTH)
    at += LINE_WIDTH
  }
  return out.toString('latin1')
}
