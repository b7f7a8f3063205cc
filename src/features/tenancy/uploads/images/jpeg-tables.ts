/** The parts of a JPEG file that say how to decode it, checked (ITU-T T.81, sections B.2.2 to B.2.4). */
import { brokenImage, refusedImage } from './broken-image.ts'

type JpegFrame = { width: number; height: number; components: number }

/** @throws AppError VALIDATION_ERROR */
export function readFrame(payload: Buffer): JpegFrame {
  const components = payload[5] ?? 0
  if (payload.length < 6 || payload.length !== 6 + components * 3) {
    throw brokenImage('its frame header has a wrong length')
  }
  if (payload[0] !== 8) throw refusedImage('The image has another precision than 8 bits')
  if (![1, 3, 4].includes(components)) throw refusedImage('The image has unknown colours')
  const height = payload.readUInt16BE(1)
  const width = payload.readUInt16BE(3)
  if (width === 0 || height === 0) throw brokenImage('it is empty')
  for (let at = 6; at < payload.length; at += 3) {
    const sampling = payload[at + 1] ?? 0
    const isValid = isSampling(sampling >> 4) && isSampling(sampling & 15)
    if (!isValid || (payload[at + 2] ?? 0) > 3) throw brokenImage('its frame header is invalid')
  }
  return { width, height, components }
}

function isSampling(factor: number): boolean {
  return factor >= 1 && factor <= 4
}

/** Checks the header of a scan. @throws AppError VALIDATION_ERROR */
export function requireScan(payload: Buffer, frame: JpegFrame | undefined): void {
  if (frame === undefined) throw brokenImage('a scan comes before the frame')
  const components = payload[0] ?? 0
  const isValid = components >= 1 && components <= frame.components
  if (!isValid || payload.length !== 4 + components * 2)
    throw brokenImage('a scan header is invalid')
}

/** Whether the segment is tables from the first byte to the last. */
export function isQuantizationTables(payload: Buffer): boolean {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    at += 1 + 64 * ((head >> 4) + 1)
  }
  return payload.length > 0 && at === payload.length
}

/** Whether the segment is tables from the first byte to the last. */
export function isHuffmanTables(payload: Buffer): boolean {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    const symbols = payload.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)
    if (symbols > 256) return false
    at += 17 + symbols
  }
  return payload.length > 0 && at === payload.length
}
