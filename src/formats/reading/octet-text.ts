/**
 * Octets as text, one character for each, on their way through mailparser. The parser replaces the line
 * ends of a whole text at once, which takes a hundred octets of memory for each: LF passes as another
 * character, U+010A, whose lower octet is that of LF.
 */
import { Transform } from 'node:stream'
import { mapSlices } from '../parse/slices.ts'

const LF = /\n/g
const HIDDEN_LF = '\u010a'

/** Converts the octets that `allow` returns. */
export function octetsAsText(allow: (octets: Buffer) => Buffer): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = allow(chunk).toString('latin1')
      done(
        null,
        mapSlices(text, (slice) => slice.replace(LF, HIDDEN_LF)),
      )
    },
  })
}

export function textAsOctets(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}
