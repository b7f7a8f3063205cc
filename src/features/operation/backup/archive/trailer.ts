/**
 * The end of a backup file: the SHA-256 of all bytes before it, in a frame that programs for zstd skip
 * (RFC 8878, section 3.1.2). The checksums of the other layers leave some bits unchecked.
 */
import { createHash } from 'node:crypto'
import { archiveFault } from './manifest.ts'

/** The head of a skippable frame: its magic number, and the length of its content. */
const HEAD = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 32, 0, 0, 0])
const TRAILER_BYTES = HEAD.length + 32

export function formatTrailer(sha256: Buffer): Buffer {
  return Buffer.concat([HEAD, sha256])
}

/**
 * Yields the bytes before the trailer.
 * @throws AppError BAD_REQUEST at their end when the trailer is not the right one
 */
export async function* withoutTrailer(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const hash = createHash('sha256')
  let tail = Buffer.alloc(0)
  for await (const chunk of source) {
    const bytes = tail.length === 0 ? chunk : Buffer.concat([tail, chunk])
    const end = Math.max(0, bytes.length - TRAILER_BYTES)
    tail = Buffer.from(bytes.subarray(end))
    if (end === 0) continue
    const passed = bytes.subarray(0, end)
    hash.update(passed)
    yield passed
  }
  if (!tail.subarray(0, HEAD.length).equals(HEAD)) {
    throw archiveFault(
      'The file is cut off or damaged, or no backup of Pillarbox: its end is missing.',
    )
  }
  if (tail.equals(formatTrailer(hash.digest()))) return
  throw archiveFault('The file is damaged: its SHA-256 is not the one at its end.')
}
