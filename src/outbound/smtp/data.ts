/** The message as it crosses the wire after DATA (RFC 5321 section 4.5.2). */

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

/** Where lines begin with a dot. One pass over the bytes: this runs for every message sent. */
function scan(message: Uint8Array): { dots: number[]; has8bit: boolean } {
  const dots: number[] = []
  let seen = 0
  for (let at = 0; at < message.length; at++) {
    const byte = message[at] as number
    seen |= byte
    if (byte > DOT) continue
    if (byte === LF && message[at - 1] !== CR) throwStray()
    if (byte === CR && message[at + 1] !== LF) throwStray()
    if (byte === DOT && (at === 0 || message[at - 1] === LF)) dots.push(at)
  }
  return { dots, has8bit: seen > 127 }
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
