/** Base64 in lines (RFC 2045 section 6.8). */
const columns = 76

/** The octets as lines of 76 columns with CRLF between them, none after the last. */
export function encodeBase64Lines(octets: Uint8Array): Buffer {
  const encodedLength = Math.ceil(octets.length / 3) * 4
  const breaksLength = Math.max(Math.ceil(encodedLength / columns) - 1, 0) * 2
  const out = Buffer.allocUnsafe(encodedLength + breaksLength)
  const source = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)
  // written whole at the end, then moved line by line to its place: no copy beside the result
  out.write(source.toString('base64'), breaksLength, 'latin1')
  let at = 0
  for (let line = breaksLength; line < out.length; line += columns) {
    if (at > 0) {
      out[at++] = 0x0d
      out[at++] = 0x0a
    }
    out.copyWithin(at, line, line + columns)
    at += columns
  }
  return out
}
