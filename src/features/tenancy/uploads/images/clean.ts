/**
 * Cleans an image file: removes everything that is not needed to show the image. The pixels stay as
 * they are, because only the container is taken apart, checked and put together again. The bytes
 * decide the format, not the name of the file.
 */
import { cleanGif } from './gif.ts'
import { type CleanImage, refusedImage } from './image-parts.ts'
import { cleanJpeg } from './jpeg.ts'
import { cleanPng } from './png.ts'
import { cleanWebp } from './webp.ts'

/**
 * The most pixels of all frames together (width x height x frames); a viewer needs four bytes for
 * each.
 */
const MAX_PIXELS = 50_000_000

/** The number of bytes that `file-type` needs to recognise a format. */
const SAMPLE_BYTES = 4100

const CLEANERS: Readonly<Record<string, (bytes: Buffer) => CleanImage>> = {
  'image/jpeg': cleanJpeg,
  'image/png': cleanPng,
  'image/apng': cleanPng,
  'image/gif': cleanGif,
  'image/webp': cleanWebp,
}

/**
 * Cleans an image. The parts of the result are views of `bytes`.
 * @throws AppError VALIDATION_ERROR
 */
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
