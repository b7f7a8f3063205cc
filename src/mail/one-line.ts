/** Puts a text on one line. */

/** Replaces each run of control characters, tabs included, by a space; trimmed. */
export function oneLine(text: string): string {
  return text.replace(/\p{Cc}+/gu, ' ').trim()
}

/** Whether a text has no ASCII control characters but tabs, as in header fields. */
export function isOneFieldLine(text: string): boolean {
  return !/[\x00-\x08\x0a-\x1f\x7f]/.test(text)
}

/** Replaces each run of ASCII control characters by a space, but keeps tabs, as header fields do. */
export function oneFieldLine(text: string): string {
  return text.replace(/[\x00-\x08\x0a-\x1f\x7f]+/g, ' ').trim()
}
