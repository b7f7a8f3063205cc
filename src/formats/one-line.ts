/**
 * Puts a text on one line. The rules for texts of header fields:
 * - ASCII control characters other than the tab are refused in a text that a caller gives, and
 *   become a space in a text that comes from data.
 * - All other characters are text and leave only in encoded words, in ASCII. Among them are
 *   characters that some readers take for the end of a line (U+0085, U+2028, U+2029) and characters
 *   that change the direction. In an address, which cannot be encoded, these are refused.
 * - Half of a surrogate pair is no character, and leaves as U+FFFD.
 */

/** Matches a text without ASCII control characters other than tabs. */
export const ONE_FIELD_LINE = /^[^\x00-\x08\x0a-\x1f\x7f]*$/

/** Replaces each run of control characters, tabs included, by one space, and trims the text. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

/** Whether a text may be the value of a header field: no ASCII control character except the tab. */
export function isOneFieldLine(text: string): boolean {
  return ONE_FIELD_LINE.test(text)
}

/**
 * Replaces each run of ASCII control characters by one space, but keeps tabs, which header fields
 * may contain.
 */
export function oneFieldLine(text: string): string {
  return text.replace(/[\x00-\x08\x0a-\x1f\x7f]+/g, ' ').trim()
}
