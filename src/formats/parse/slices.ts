/**
 * Converts text a slice at a time. The result of a replacement is a chain of strings that takes a hundred octets for
 * each match until somebody reads it: millions of matches exceed the heap of a thread, and V8 ends the process when
 * that happens inside one call.
 */
const SLICE_LENGTH = 65_536

/**
 * `convert` gets the text in slices. It may look at single characters or at CR with LF, which no
 * slice splits.
 */
export function mapSlices(text: string, convert: (slice: string) => string): string {
  if (text.length <= SLICE_LENGTH) return convert(text)
  const slices: string[] = []
  for (let at = 0; at < text.length; ) {
    const isBroken = text[at + SLICE_LENGTH - 1] === '\r' && text[at + SLICE_LENGTH] === '\n'
    const end = at + SLICE_LENGTH + (isBroken ? 1 : 0)
    const slice = convert(text.slice(at, end))
    // Reading a character turns the chain into one string.
    slice.charCodeAt(0)
    slices.push(slice)
    at = end
  }
  return slices.join('')
}
