/**
 * Reads and writes the metadata of images that viewers need: the orientation in EXIF data (TIFF
 * 6.0; EXIF 2.32, section 4.6.4), and colour profiles (ICC.1:2022, section 7.2). Data in the place
 * of a profile that are no profile are removed.
 */

const ORIENTATION_TAG = 0x0112
const TYPE_SHORT = 3
const TIFF_HEADER_BYTES = 8
const ENTRY_BYTES = 12

/** The most bytes of a profile; the largest profiles, of printers, have about 3 MB. */
export const MAX_PROFILE_BYTES = 4 * 1024 * 1024
const PROFILE_HEADER_BYTES = 128
const SIGNATURE_AT = 36

/**
 * Returns the orientation, 2 to 8, that EXIF data give; 1, which changes nothing, if there is none
 * or the data are broken. `tiff`: the data after `Exif\0\0`.
 */
export function readOrientation(tiff: Buffer): number {
  const isLittleEndian = tiff.toString('latin1', 0, 4) === 'II*\0'
  if (!isLittleEndian && tiff.toString('latin1', 0, 4) !== 'MM\0*') return 1
  const short = (at: number) => (isLittleEndian ? tiff.readUInt16LE(at) : tiff.readUInt16BE(at))
  if (tiff.length < TIFF_HEADER_BYTES) return 1
  const directory = isLittleEndian ? tiff.readUInt32LE(4) : tiff.readUInt32BE(4)
  if (directory + 2 > tiff.length) return 1
  const count = short(directory)
  for (let index = 0; index < count; index += 1) {
    const entry = directory + 2 + index * ENTRY_BYTES
    if (entry + ENTRY_BYTES > tiff.length) return 1
    if (short(entry) !== ORIENTATION_TAG) continue
    const value = short(entry + 2) === TYPE_SHORT ? short(entry + 8) : 1
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

/** Makes EXIF data with the orientation and nothing else, without the leading `Exif\0\0`. */
export function formatOrientation(orientation: number): Buffer {
  const tiff = Buffer.alloc(TIFF_HEADER_BYTES + 2 + ENTRY_BYTES + 4)
  tiff.write('MM\0*', 0, 'latin1')
  tiff.writeUInt32BE(TIFF_HEADER_BYTES, 4)
  tiff.writeUInt16BE(1, 8)
  tiff.writeUInt16BE(ORIENTATION_TAG, 10)
  tiff.writeUInt16BE(TYPE_SHORT, 12)
  tiff.writeUInt32BE(1, 14)
  tiff.writeUInt16BE(orientation, 18)
  return tiff
}

/**
 * Returns the size of an image as viewers show it. Some orientations turn the image by a quarter,
 * which swaps its sides.
 */
export function shownSize(
  { width, height }: { width: number; height: number },
  orientation: number,
): { width: number; height: number } {
  return orientation >= 5 ? { width: height, height: width } : { width, height }
}

/**
 * Whether data are a colour profile. `head`: its first bytes; `sizeBytes`: the size of the whole.
 */
export function isColourProfile(head: Buffer, sizeBytes: number): boolean {
  if (head.length < PROFILE_HEADER_BYTES || sizeBytes > MAX_PROFILE_BYTES) return false
  if (head.toString('latin1', SIGNATURE_AT, SIGNATURE_AT + 4) !== 'acsp') return false
  // A profile is padded to a multiple of four, and some writers leave the padding out of the size.
  const padding = sizeBytes - head.readUInt32BE(0)
  return padding >= 0 && padding < 4
}
