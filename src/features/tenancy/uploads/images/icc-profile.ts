/**
 * Recognizes colour profiles (ICC.1:2022, section 7.2), so that other data in the place of a
 * profile are removed.
 */

/** The largest profiles of printers have about 3 MB. */
export const MAX_PROFILE_BYTES = 4 * 1024 * 1024
const HEADER_BYTES = 128
const SIGNATURE_AT = 36

/** `head`: the beginning of the profile; `sizeBytes`: of the whole. */
export function isColourProfile(head: Buffer, sizeBytes: number): boolean {
  if (head.length < HEADER_BYTES || sizeBytes > MAX_PROFILE_BYTES) return false
  if (head.toString('latin1', SIGNATURE_AT, SIGNATURE_AT + 4) !== 'acsp') return false
  // A profile is padded to a multiple of four, and some writers leave the padding out of the size.
  const padding = sizeBytes - head.readUInt32BE(0)
  return padding >= 0 && padding < 4
}
