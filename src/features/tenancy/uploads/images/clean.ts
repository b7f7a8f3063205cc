/**
 * Takes everything out of an image file that is not needed to show it. The pixels stay as they are:
 * only the container is taken apart, checked and put together again. What the bytes are decides, not
 * how they are called.
 */
import { refusedImage } from './broken-image.ts'
import type { CleanImage } from './clean-image.ts'
import { cleanGif } from './gif.ts'
import { cleanJpeg } from './jpeg.ts'
import { cleanPng } from './png.ts'
import { cleanWebp } from './webp.ts'

/** Width x height x frames: a viewer needs four bytes for each. */
const MAX_PIXELS = 50_000_000

/** As many bytes as the package wants to see. */
const SAMPLE_BYTES = 4100

const CLEANERS: Readonly<Record<string, (bytes: Buffer) => CleanImage>> = {
  'image/jpeg': cleanJpeg,
  'image/png': cleanPng,
  'image/apng': cleanPng,
  'image/gif': cleanGif,
  'image/webp': cleanWebp,
}

/** The parts of the result are views of `bytes`. @throws AppError VALIDATION_ERROR */
export async function cleanImage(bytes: Buffer): Promise<CleanImage> {
  if (bytes.length === 0) throw refusedImage('The file is empty')
  const { fileTypeFromBuffer } = await import('file-type')
  const type = await fileTypeFromBuffer(bytes.subarray(0, SAMPLE_BYTES))
  const clean = type === undefined ? undefined : CLEANERS[type.mime]
  if (clean === undefined) throw refusedImage('Must be a JPEG, PNG, GIF or WebP image')
  const image = clean(bytes)
  if (image.width * image.height * image.frames > MAX_PIXELS) {
    throw refusedImage(`The image has more than ${MAX_PIXELS} pixels, all frames counted`)
  }
  return image
}
