/**
 * Decoders of base64 and quoted-printable (RFC 2045 section 6) for mailparser. Those of the parser replace
 * characters of a whole line or part at once, in a hundred octets of memory for each.
 */
import { Transform } from 'node:stream'

const SLICE_BYTES = 65_536
const [TAB, LF, CR, SPACE, EQUALS] = [0x09, 0x0a, 0x0d, 0x20, 0x3d]

/** `encoding`: in lower case; `getDecoder`: makes that of the parser. */
export function decoderOf(encoding: string | false, getDecoder: () => Transform): Transform {
  if (encoding === 'quoted-printable') return quotedPrintableDecoder()
  return encoding === 'base64' ? inSlices(getDecoder()) : getDecoder()
}

/** The decoder, given a slice at a time. It pushes what it decodes. */
function inSlices(decoder: Transform): Transform {
  const decodeWhole = decoder._transform.bind(decoder)
  decoder._transform = (chunk: Buffer, encoding, done) => {
    let at = 0
    const next = (error?: Error | null) => {
      if (error || at >= chunk.length) return done(error)
      const slice = chunk.subarray(at, at + SLICE_BYTES)
      at += SLICE_BYTES
      decodeWhole(slice, encoding, next)
    }
    next()
  }
  return decoder
}

/** Decodes when it has the whole part. */
function quotedPrintableDecoder(): Transform {
  const chunks: Buffer[] = []
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      done()
    },
    flush(done) {
      done(null, decodeQuotedPrintable(Buffer.concat(chunks)))
    },
  })
}

/** Blanks at the ends of lines are left out; what is no escape stays. */
export function decodeQuotedPrintable(encoded: Buffer): Buffer {
  const joined = joinLines(encoded)
  const decoded = Buffer.alloc(joined.length)
  let length = 0
  for (let at = 0; at < joined.length; at += 1) {
    const octet = joined[at] === EQUALS ? readEscape(joined, at) : undefined
    decoded[length++] = octet ?? joined.readUInt8(at)
    if (octet !== undefined) at += 2
  }
  return decoded.subarray(0, length)
}

/** Without soft line breaks and blanks at the ends of lines. */
function joinLines(encoded: Buffer): Buffer {
  const joined = Buffer.alloc(encoded.length)
  let length = 0
  /** A sign of equality before this place is none of a soft line break. */
  let joinedTo = 0
  for (let at = 0; at < encoded.length; ) {
    const end = endOfBlanks(encoded, at)
    const isLineEnd = end === encoded.length || encoded[end] === LF || encoded[end] === CR
    if (!isLineEnd) length += encoded.copy(joined, length, at, end)
    at = end
    if (at === encoded.length) break
    const isBreak = isLineEnd && length > joinedTo && joined[length - 1] === EQUALS
    const octets = encoded[at] === CR && encoded[at + 1] === LF ? 2 : 1
    if (isBreak && (octets === 2 || encoded[at] === LF)) {
      length -= 1
      joinedTo = length
      at += octets
    } else joined[length++] = encoded.readUInt8(at++)
  }
  if (length > joinedTo && joined[length - 1] === EQUALS) length -= 1
  return joined.subarray(0, length)
}

function endOfBlanks(octets: Buffer, from: number): number {
  let end = from
  while (octets[end] === SPACE || octets[end] === TAB) end += 1
  return end
}

function readEscape(octets: Buffer, at: number): number | undefined {
  const [high, low] = [hexOf(octets[at + 1]), hexOf(octets[at + 2])]
  return high === undefined || low === undefined ? undefined : high * 16 + low
}

/** 0 to 9, A to F, a to f. */
function hexOf(octet: number | undefined): number | undefined {
  if (octet === undefined) return undefined
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30
  const letter = octet | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
