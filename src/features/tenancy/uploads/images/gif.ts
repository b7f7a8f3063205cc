/**
 * Cleans a GIF file (GIF89a). The screen, its colours, the frames with their controls and the number
 * of loops stay. Comments, plain texts and all other application data go, and all bytes after the
 * trailer.
 */
import {
  brokenImage,
  type CleanImage,
  createParts,
  type ImageParts,
  requireBytes,
  requireFewBlocks,
} from './image-parts.ts'

type GifState = {
  bytes: Buffer
  parts: ImageParts
  width: number
  height: number
  /** The graphic control extension that applies to the next frame or text. */
  control: { start: number; end: number } | undefined
  hasLoops: boolean
  frames: number
}

const SCREEN_END = 13
const EXTENSION = 0x21
const IMAGE = 0x2c
const TRAILER = 0x3b
const LABEL = { plainText: 0x01, control: 0xf9, application: 0xff }
const CONTROL_BYTES = 8
const IMAGE_HEADER_BYTES = 10
/** The most bits with which the codes of image data may begin; browsers refuse more. */
const MAX_CODE_BITS = 11
/** The names of application extensions that hold the number of loops. */
const LOOPS = ['NETSCAPE2.0', 'ANIMEXTS1.0']

/** @throws AppError VALIDATION_ERROR */
export function cleanGif(bytes: Buffer): CleanImage {
  requireBytes(bytes, SCREEN_END)
  const width = bytes.readUInt16LE(6)
  const height = bytes.readUInt16LE(8)
  if (width === 0 || height === 0) throw brokenImage('it is empty')
  const parts = createParts(bytes)
  let at = endOfColours(bytes, SCREEN_END, bytes[10])
  parts.keep(0, at)
  const state: GifState = {
    ...{ bytes, parts, width, height },
    ...{ control: undefined, hasLoops: false, frames: 0 },
  }
  for (let count = 1; bytes[at] !== TRAILER; count += 1) {
    requireFewBlocks(count)
    requireBytes(bytes, at + 2)
    if (bytes[at] === EXTENSION) at = takeExtension(state, at)
    else if (bytes[at] === IMAGE) at = takeImage(state, at)
    else throw brokenImage('it has an unknown kind of block')
  }
  if (state.frames === 0) throw brokenImage('it has no picture')
  parts.keep(at, at + 1)
  const { frames } = state
  return { contentType: 'image/gif', extension: 'gif', width, height, frames, parts }
}

/**
 * Returns the end of the colour table that begins at `at`; returns `at` if `flags` say that there
 * is none.
 */
function endOfColours(bytes: Buffer, at: number, flags = 0): number {
  const end = flags & 0x80 ? at + 3 * 2 ** ((flags & 7) + 1) : at
  requireBytes(bytes, end)
  return end
}

function takeExtension(state: GifState, start: number): number {
  const { bytes, parts } = state
  const label = bytes[start + 1]
  const end = endOfBlocks(bytes, start + 2)
  if (label === LABEL.control) {
    if (end - start !== CONTROL_BYTES || bytes[start + 2] !== 4) {
      throw brokenImage('a control of a frame is invalid')
    }
    state.control = { start, end }
  } else if (label === LABEL.plainText) state.control = undefined
  else if (label === LABEL.application && !state.hasLoops) {
    const loops = formatLoops(bytes.subarray(start, end))
    if (loops !== undefined) parts.add(loops)
    state.hasLoops = loops !== undefined
  }
  return end
}

/**
 * Makes an extension with the number of loops and nothing else; undefined if `extension` is of
 * another kind.
 */
function formatLoops(extension: Buffer): Buffer | undefined {
  const isLoops =
    extension[2] === 11 &&
    LOOPS.includes(extension.toString('latin1', 3, 14)) &&
    extension[14] === 3 &&
    extension[15] === 1
  return isLoops ? Buffer.concat([extension.subarray(0, 18), Buffer.alloc(1)]) : undefined
}

function takeImage(state: GifState, start: number): number {
  const { bytes, parts, width, height, control } = state
  requireBytes(bytes, start + IMAGE_HEADER_BYTES)
  const [left, top] = [bytes.readUInt16LE(start + 1), bytes.readUInt16LE(start + 3)]
  const [ownWidth, ownHeight] = [bytes.readUInt16LE(start + 5), bytes.readUInt16LE(start + 7)]
  if (ownWidth === 0 || ownHeight === 0) throw brokenImage('a frame is empty')
  if (left + ownWidth > width || top + ownHeight > height) {
    throw brokenImage('a frame is larger than the image')
  }
  const codes = endOfColours(bytes, start + IMAGE_HEADER_BYTES, bytes[start + 9])
  requireBytes(bytes, codes + 2)
  const codeBits = bytes[codes] ?? 0
  if (codeBits < 1 || codeBits > MAX_CODE_BITS || bytes[codes + 1] === 0) {
    throw brokenImage('a frame has no data')
  }
  const end = endOfBlocks(bytes, codes + 1)
  if (control !== undefined) parts.keep(control.start, control.end)
  parts.keep(start, end)
  state.control = undefined
  state.frames += 1
  return end
}

/**
 * Returns the end of the data blocks that begin at `start`. Each block has its length, and the last
 * one is empty.
 */
function endOfBlocks(bytes: Buffer, start: number): number {
  let at = start
  for (;;) {
    requireBytes(bytes, at + 1)
    const lengthBytes = bytes[at] ?? 0
    at += 1 + lengthBytes
    if (lengthBytes === 0) return at
  }
}
