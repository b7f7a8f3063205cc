/**
 * What a file's bytes mean. A byte order mark decides; without one it is UTF-16 where every other
 * of the first bytes is zero, as in any text of mostly Latin letters, UTF-8 where all of it is, and
 * else Windows-1252, which old spreadsheet programs write and which gives every byte a character.
 */
import { isUtf8 } from 'node:buffer'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Enough to tell UTF-16 by. */
const SAMPLE_BYTES = 1024

const marks: readonly [Encoding, readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Reads all of the file, unless its beginning says enough. */
export async function detectEncoding(chunks: AsyncIterable<Uint8Array>): Promise<Encoding> {
  let isFirst = true
  let tail = new Uint8Array()
  for await (const chunk of chunks) {
    const known = isFirst ? fromBeginning(chunk) : undefined
    if (known !== undefined) return known
    isFirst = false
    const bytes = tail.length === 0 ? chunk : Buffer.concat([tail, chunk])
    const end = lastCharacterStart(bytes)
    if (!isUtf8(bytes.subarray(0, end))) return 'windows-1252'
    tail = Uint8Array.from(bytes.subarray(end))
  }
  return isUtf8(tail) ? 'utf-8' : 'windows-1252'
}

function fromBeginning(bytes: Uint8Array): Encoding | undefined {
  for (const [encoding, mark] of marks) {
    if (mark.every((byte, index) => bytes[index] === byte)) return encoding
  }
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  }
  const [even = 0, odd = 0] = zeros
  // Most of one half and none of the other.
  if (odd > sample.length / 4 && even === 0) return 'utf-16le'
  if (even > sample.length / 4 && odd === 0) return 'utf-16be'
  return undefined
}

/** Where the last character begins if it may go on in the next chunk, else the end. */
function lastCharacterStart(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return bytes.length - back
  }
  return bytes.length
}

/** The text, a piece for each chunk; bytes that mean nothing become U+FFFD. */
export async function* decode(
  chunks: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<{ text: string; bytesRead: number }> {
  const decoder = new TextDecoder(encoding)
  let bytesRead = 0
  for await (const chunk of chunks) {
    bytesRead += chunk.length
    yield { text: decoder.decode(chunk, { stream: true }), bytesRead }
  }
  yield { text: decoder.decode(), bytesRead }
}
