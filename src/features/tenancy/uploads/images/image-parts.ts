/**
 * The result of cleaning an image, the refusals of an image, and the bounds on its parts. All
 * refusals name the form's field `image`.
 */
import { type AppError, invalidField } from '../../../../base/errors.ts'

/** An image whose file has been cleaned. */
export type CleanImage = {
  contentType: 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
  extension: 'jpg' | 'png' | 'gif' | 'webp'
  /** The size in pixels, as viewers show the image. */
  width: number
  height: number
  /** The number of frames; 1 for an image that does not move. */
  frames: number
  /** The parts of the cleaned file. */
  parts: ImageParts
}

/** The most blocks, chunks or segments of an image. Real images have far fewer. */
const MAX_BLOCKS = 20_000

export type ImageParts = {
  /** Adds the given file's bytes from `start` up to `end`. */
  keep(start: number, end: number): void
  /** Adds other bytes after the parts so far. */
  add(bytes: Buffer): void
  sizeBytes(): number
  /** Returns the parts so far. */
  list(): Buffer[]
}

/**
 * The most parts, because each takes memory and a write of its own. Real images have fewer than a
 * hundred.
 */
const MAX_PARTS = 10_000

/**
 * The parts of a cleaned file, in order: mostly views of the given file, so that an image is in
 * memory once. Adjacent views are joined.
 */
export function createParts(source: Buffer): ImageParts {
  const parts: Buffer[] = []
  let sizeBytes = 0
  /** Where the last view begins; it may still grow. */
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

export function refusedImage(message: string): AppError {
  return invalidField('image', 'custom', message)
}

/**
 * The refusal of a file that contradicts its format. `what`: a clause such as `its data are
 * invalid`.
 */
export function brokenImage(what: string): AppError {
  return refusedImage(`The image is broken: ${what}`)
}

/** @throws AppError VALIDATION_ERROR when the bytes end before `end` */
export function requireBytes(bytes: Buffer, end: number): void {
  if (end > bytes.length) throw brokenImage('the file is cut off')
}

/** @throws AppError VALIDATION_ERROR for a file whose blocks would take too long to read */
export function requireFewBlocks(count: number): void {
  if (count > MAX_BLOCKS) throw refusedImage(`The image has more than ${MAX_BLOCKS} blocks`)
}
