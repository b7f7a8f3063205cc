/**
 * Cleans an image file: everything that is not needed to show the image is removed. The pixels stay
 * as they are: only the container is taken apart, checked and put together again. The bytes decide
 * the format, not the name of the file.
 */
import { cleanGif } from './gif.ts'
import { type CleanImage, refusedImage } from './image-parts.ts'
import { cleanJpeg } from './jpeg.ts'
import { cleanPng } from './png.ts'
import { cleanWebp } from './webp.ts'

/** Width x height x frames; a viewer needs four bytes for each pixel. */
const MAX_PIXELS = 50_000_000

/** The number of bytes that `file-type` wants to see. */
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
