/** The headers of the two bitstreams of WebP: lossy (RFC 6386, section 9.1), lossless (RFC 9649, section 3.4). */
import { brokenImage } from './broken-image.ts'

const LOSSY = 'VP8 '
const LOSSLESS = 'VP8L'
const LOSSY_HEADER_BYTES = 10
const LOSSY_START = '9d012a'
const LOSSLESS_HEADER_BYTES = 5
const LOSSLESS_SIGNATURE = 0x2f
const SIDE_MASK = 0x3fff

export function isBitstream(type: string): boolean {
  return type === LOSSY || type === LOSSLESS
}

/** Returns the size in pixels. @throws AppError VALIDATION_ERROR */
export function readBitstream(type: string, data: Buffer): { width: number; height: number } {
  const size = type === LOSSY ? readLossy(data) : readLossless(data)
  if (size.width === 0 || size.height === 0) throw brokenImage('it is empty')
  return size
}

/** The picture is a key frame of a video, whose first part must be there. */
function readLossy(data: Buffer) {
  if (data.length < LOSSY_HEADER_BYTES) throw invalid()
  const tag = data.readUIntLE(0, 3)
  const isKeyFrame = (tag & 1) === 0
  const firstPartBytes = tag >> 5
  const isStart = data.toString('hex', 3, 6) === LOSSY_START
  if (!isKeyFrame || !isStart || LOSSY_HEADER_BYTES + firstPartBytes > data.length) throw invalid()
  return { width: data.readUInt16LE(6) & SIDE_MASK, height: data.readUInt16LE(8) & SIDE_MASK }
}

function readLossless(data: Buffer) {
  if (data.length <= LOSSLESS_HEADER_BYTES || data[0] !== LOSSLESS_SIGNATURE) throw invalid()
  const bits = data.readUInt32LE(1)
  const version = bits >>> 29
  if (version !== 0) throw invalid()
  return { width: (bits & SIDE_MASK) + 1, height: ((bits >>> 14) & SIDE_MASK) + 1 }
}

function invalid() {
  return brokenImage('its data are invalid')
}
