/**
 * The parts of a cleaned file, in order: mostly views of the given file, so that an image is in memory
 * once. Adjacent views are joined.
 */
import { refusedImage } from './broken-image.ts'

export type ImageParts = {
  /** Continues with the given file's bytes from `start` up to `end`. */
  keep(start: number, end: number): void
  /** Continues with other bytes. */
  add(bytes: Buffer): void
  sizeBytes(): number
  /** The parts so far. */
  list(): Buffer[]
}

/** Each part takes memory and a write of its own. Real images have fewer than a hundred. */
const MAX_PARTS = 10_000

export function createParts(source: Buffer): ImageParts {
  const parts: Buffer[] = []
  let sizeBytes = 0
  /** The view that may still grow. */
  let start = 0
  let end = 0

  function close(): void {
    if (end > start) push(source.subarray(start, end))
    start = end
  }

  function push(bytes: Buffer): void {
    parts.push(bytes)
    if (parts.length > MAX_PARTS) throw refusedImage('The image has too many blocks to clean')
  }

  return {
    keep(from, to) {
      if (from !== end) {
        close()
        start = from
      }
      end = to
      sizeBytes += to - from
    },
    add(bytes) {
      close()
      push(bytes)
      sizeBytes += bytes.length
    },
    sizeBytes: () => sizeBytes,
    list() {
      close()
      return parts
    },
  }
}
