/**
 * Detects the encoding of a file. A byte order mark decides. Without one, a file is UTF-16 if every
 * other of its first bytes is zero (as in text of mostly Latin letters), UTF-8 if all of it is valid
 * UTF-8, and Windows-1252 otherwise: old spreadsheet programs write it, and every byte has a character.
 */
import { isUtf8 } from 'node:buffer'

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** Bytes that are enough to recognize UTF-16. */
const SAMPLE_BYTES = 1024

const BYTE_ORDER_MARKS: readonly [Encoding, readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]

/** Reads the whole file, unless the first chunk decides. */
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
  for (const [encoding, mark] of BYTE_ORDER_MARKS) {
    if (mark.every((byte, index) => bytes[index] === byte)) return encoding
  }
  const sample = bytes.subarray(0, SAMPLE_BYTES)
  const zeros = [0, 0]
  for (const [index, byte] of sample.entries()) {
    if (byte === 0) zeros[index % 2] = (zeros[index % 2] ?? 0) + 1
  }
  const [even = 0, odd = 0] = zeros
  // Zeros in one half of the positions, and none in the other.
  if (odd > sample.length / 4 && even === 0) return 'utf-16le'
  if (even > sample.length / 4 && odd === 0) return 'utf-16be'
  return undefined
}

/** Returns the start of a character that may continue in the next chunk, otherwise the end. */
function lastCharacterStart(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0
    if (byte < 0x80) return bytes.length
    if (byte >= 0xc0) return bytes.length - back
  }
  return bytes.length
}

/** Yields the text, one piece per chunk; invalid bytes become U+FFFD. */
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
