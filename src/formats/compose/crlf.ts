/** Turns every line break of a text into CRLF. */
const PIECE_LENGTH = 65_536
const CR = 0x0d

/**
 * The text with CRLF in place of each line break: CRLF, a lone CR or a lone LF. Works in pieces: replacing
 * many line ends at once takes many times the memory of the text.
 */
export function toCrlf(text: string): string {
  if (text.length <= PIECE_LENGTH) return convert(text)
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + PIECE_LENGTH
    const next = text.charCodeAt(end - 1) === CR ? end - 1 : end
    // `join` makes one flat string; the result of `replace` keeps all its pieces in memory.
    pieces.push(
      text
        .slice(at, next)
        .split(/\r\n?|\n/)
        .join('\r\n'),
    )
    at = next
  }
  return pieces.join('')
}

function convert(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?|\n/g, '\r\n') : text.replaceAll('\n', '\r\n')
}
