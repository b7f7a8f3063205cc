/**
 * Whether a text is base64 that decodes to something (RFC 4648 sections 4 and 5): either alphabet,
 * white space anywhere, padding optional. Linear in the length of the text.
 */
const FIRST_OTHER = /[^A-Za-z0-9+/_\-\s]/
const PADDING = /^={1,2}\s*$/
const SPACE = /\s/
/** Padding and the line ends that some encoders put after it. */
const MAX_PADDING_LENGTH = 64

export function isBase64(text: string): boolean {
  const end = text.search(FIRST_OTHER)
  if (end >= 0 && !PADDING.test(text.slice(end, end + MAX_PADDING_LENGTH + 1))) return false
  const digits = end < 0 ? text : text.slice(0, end)
  const count = SPACE.test(digits) ? digits.replace(/\s+/g, '').length : digits.length
  // One digit alone holds six bits: less than an octet.
  return count >= 2 && count % 4 !== 1
}
