/** Refusals of images. All name the form's field `image`. */
import { type AppError, invalidField } from '../../../../base/errors.ts'

/** The blocks, chunks or segments of an image. Real images have far fewer. */
const MAX_BLOCKS = 20_000

export function refusedImage(message: string): AppError {
  return invalidField('image', 'custom', message)
}

/** The file contradicts its format. `what`: the beginning of a sentence, as `A frame is empty`. */
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
