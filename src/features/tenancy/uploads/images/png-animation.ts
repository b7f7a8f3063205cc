/** Checks the frames of an animated PNG (W3C PNG, third edition, section 11.3.6). */
import { brokenImage } from './image-parts.ts'

export type Animation = {
  /** Takes an `fcTL`. @throws AppError VALIDATION_ERROR */
  beginFrame(data: Buffer): void
  /** Takes the first `IDAT`: the image itself is the first frame if an `fcTL` came before. */
  beginData(): void
  /** Takes an `fdAT`. @throws AppError VALIDATION_ERROR */
  addData(data: Buffer): void
  /** Returns the number of pictures: frames, and an image that is no frame. @throws AppError VALIDATION_ERROR */
  finish(): number
}

type Size = { width: number; height: number }

const CONTROL_BYTES = 8
const FRAME_BYTES = 26
const SEQUENCE_BYTES = 4

/** Begins an animation. `control`: the data of the `acTL`. @throws AppError VALIDATION_ERROR */
export function openAnimation(control: Buffer, canvas: Size): Animation {
  if (control.length !== CONTROL_BYTES) throw invalid()
  const declared = control.readUInt32BE(0)
  if (declared === 0) throw invalid()
  let frames = 0
  let sequence = 0
  let hasData = true
  let isImageFrame = false
  let isInImage = true

  function countSequence(data: Buffer): void {
    if (data.readUInt32BE(0) !== sequence) throw invalid()
    sequence += 1
  }

  return {
    beginFrame(data) {
      if (data.length !== FRAME_BYTES || !hasData) throw invalid()
      countSequence(data)
      requireRegion(data, canvas, { isWhole: isInImage })
      frames += 1
      hasData = false
    },
    beginData() {
      isImageFrame = frames > 0
      isInImage = false
      hasData = true
    },
    addData(data) {
      const isOfFrame = frames > (isImageFrame ? 1 : 0)
      if (data.length <= SEQUENCE_BYTES || !isOfFrame) throw invalid()
      countSequence(data)
      hasData = true
    },
    finish() {
      if (frames !== declared || !hasData) throw invalid()
      return isImageFrame ? frames : frames + 1
    },
  }
}

/**
 * Requires that a frame lies within the canvas, and that the frame that is the image itself covers
 * it.
 */
function requireRegion(data: Buffer, canvas: Size, { isWhole }: { isWhole: boolean }): void {
  const [width, height, x, y] = [4, 8, 12, 16].map((at) => data.readUInt32BE(at)) as [
    number,
    number,
    number,
    number,
  ]
  const isInside =
    width > 0 && height > 0 && x + width <= canvas.width && y + height <= canvas.height
  const isCovering = width === canvas.width && height === canvas.height
  const [dispose = 0, blend = 0] = data.subarray(24)
  if (!isInside || (isWhole && !isCovering) || dispose > 2 || blend > 1) throw invalid()
}

function invalid() {
  return brokenImage('its animation is invalid')
}
