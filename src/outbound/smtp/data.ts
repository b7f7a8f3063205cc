/** The message as it crosses the wire after DATA (RFC 5321 section 4.5.2). */
import { createTextBuilder } from '../../mail/text-builder.ts'

export type PreparedData = {
  /** Dots stuffed; one character is one octet. */
  octets: string
  /** What comes after them: the last line's end, where it is missing, and the final dot. */
  ending: string
  /** Octets of the message itself, as SIZE counts them. */
  sizeBytes: number
  has8bit: boolean
}

const CR = 13
const DOT = 46

/**
 * `message`: one character is one octet. Throws TypeError for an empty message, for a character
 * that is no octet, and for a CR or LF that stands alone: a receiver that takes one for a line end
 * could be made to see a second message (S3).
 */
export function prepareData(message: string): PreparedData {
  if (message === '') throw new TypeError('A message must not be empty.')
  // Cut down to its low bits, such a character could become a CR or LF.
  if (/[^\x00-\xff]/.test(message)) throw new TypeError('A message must hold octets only.')
  const octets = stuff(message)
  const isEnded = message.endsWith('\n')
  return {
    octets,
    ending: isEnded ? '.\r\n' : '\r\n.\r\n',
    sizeBytes: message.length + (isEnded ? 0 : 2),
    has8bit: Buffer.byteLength(message) !== message.length,
  }
}

/** Doubles the dots that lines begin with. This runs for every message sent. */
function stuff(message: string): string {
  const stuffed = createTextBuilder()
  if (message.charCodeAt(0) === DOT) stuffed.add('.')
  let start = 0
  let lineEnds = 0
  for (let at = message.indexOf('\n'); at !== -1; at = message.indexOf('\n', at + 1)) {
    if (message.charCodeAt(at - 1) !== CR) throwStray()
    lineEnds++
    if (message.charCodeAt(at + 1) !== DOT) continue
    stuffed.add(`${message.slice(start, at + 1)}.`)
    start = at + 1
  }
  // Each LF has its CR: one more of these stands alone.
  for (let at = message.indexOf('\r'); at !== -1; at = message.indexOf('\r', at + 1)) lineEnds--
  if (lineEnds !== 0) throwStray()
  return stuffed.isEmpty() ? message : stuffed.text() + message.slice(start)
}

function throwStray(): never {
  throw new TypeError('A message must hold CR and LF only as CRLF.')
}
