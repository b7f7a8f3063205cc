/**
 * Unicode normalisation (UAX #15) in linear time. The time that `String.prototype.normalize` takes grows with
 * the square of a run of combining marks: 130,000 of them take nine seconds. A text with more marks in a
 * row than any language uses is normalised in pieces.
 */

/** UAX #15 section 13 calls a text with at most 30 marks in a row stream-safe. */
const LONG_RUN = /\p{M}{31}/u
const PIECE_LENGTH = 64

/** As `text.normalize(form)`, unless the text has more than 30 marks in a row. */
export function normalize(text: string, form: 'NFC' | 'NFKC' | 'NFKD' = 'NFC'): string {
  if (!LONG_RUN.test(text)) return text.normalize(form)
  let normalized = ''
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    normalized += text.slice(at, at + PIECE_LENGTH).normalize(form)
  }
  return normalized
}

/** The form in which texts are compared without case: composed, in lower case. */
export function comparable(text: string): string {
  return normalize(normalize(text).toLowerCase())
}
