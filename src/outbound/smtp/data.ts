/** The message as it crosses the wire after DATA (RFC 5321 section 4.5.2). */
import { isAscii } from 'node:buffer'

export type PreparedData = {
  /** Dots stuffed, ended by CRLF "." CRLF. */
  bytes: Uint8Array
  /** Octets of the message itself, as SIZE counts them. */
  sizeBytes: number
  has8bit: boolean
}

const CR = 13
const LF = 10
const DOT = 46
const end = Buffer.from('.\r\n')
const lineEnd = Buffer.from('\r\n')

/**
 * Throws TypeError for an empty message and for a CR or LF that stands alone: a receiver that
 * takes one for a line end could be made to see a second message (S3).
 */
export function prepareData(message: Uint8Array): PreparedData {
  if (message.length === 0) throw new TypeError('A message must not be empty.')
  const { dots, has8bit } = scan(message)
  const parts = dots.length === 0 ? [message] : stuff(message, dots)
  const isEnded = message.at(-1) === LF
  if (!isEnded) parts.push(lineEnd)
  parts.push(end)
  const sizeBytes = message.length + (isEnded ? 0 : lineEnd.length)
  return { bytes: Buffer.concat(parts), sizeBytes, has8bit }
}

/** Where lines begin with a dot. This runs for every message sent: strings are searched fastest. */
function scan(message: Uint8Array): { dots: number[]; has8bit: boolean } {
  const { buffer, byteOffset, length } = message
  const text = Buffer.from(buffer, byteOffset, length).toString('latin1')
  const dots = text.charCodeAt(0) === DOT ? [0] : []
  let lineEnds = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    if (text.charCodeAt(at - 1) !== CR) throwStray()
    if (text.charCodeAt(at + 1) === DOT) dots.push(at + 1)
    lineEnds++
  }
  // Each LF has its CR: one more of these stands alone.
  for (let at = text.indexOf('\r'); at !== -1; at = text.indexOf('\r', at + 1)) lineEnds--
  if (lineEnds !== 0) throwStray()
  return { dots, has8bit: !isAscii(message) }
}

function throwStray(): never {
  throw new TypeError('A message must hold CR and LF only as CRLF.')
}

function stuff(message: Uint8Array, dots: readonly number[]): Uint8Array[] {
  const parts: Uint8Array[] = []
  let start = 0
  for (const at of dots) {
    // The part ends with the dot, the next one begins with it again.
    parts.push(message.subarray(start, at + 1))
    start = at
  }
  parts.push(message.subarray(start))
  return parts
}
