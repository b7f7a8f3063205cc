/**
 * Puts a text on one line. The policy for texts of header fields:
 * - ASCII control characters but the tab are refused where a caller gives the text, and are a space where it
 *   comes from data.
 * - All other characters are text, and leave only in encoded words, in ASCII: also those that some readers
 *   take for the end of a line (U+0085, U+2028, U+2029), and those that change the direction. In an address,
 *   which cannot be encoded, they are refused.
 * - Half of a surrogate pair is no character, and leaves as U+FFFD.
 */

/** A text without ASCII control characters but tabs. */
export const ONE_FIELD_LINE = /^[^\x00-\x08\x0a-\x1f\x7f]*$/

/** Replaces each run of control characters, tabs included, by a space; trimmed. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

/** Whether a text has no ASCII control characters but tabs, as in header fields. */
export function isOneFieldLine(text: string): boolean {
  return ONE_FIELD_LINE.test(text)
}

/** Replaces each run of ASCII control characters by a space, but keeps tabs, as header fields do. */
export function oneFieldLine(text: string): string {
  return text.replace(/[\x00-\x08\x0a-\x1f\x7f]+/g, ' ').trim()
}
