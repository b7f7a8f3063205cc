/**
 * Paragraphs of `format=flowed` text (RFC 3676): lines that end in a space go on in the next one, if
 * that is quoted as deep. A blank line ends a paragraph in any case, and so does the line before a
 * signature.
 */
type Paragraph = { depth: number; text: string; isOpen: boolean }

const SIGNATURE = '-- '

/** `text` has LF for line ends. `isDelSp`: the space before a line end is no part of the text. */
export function unflow(text: string, isDelSp: boolean): string {
  const paragraphs: Paragraph[] = []
  for (const line of text.split('\n')) {
    const next = readLine(line)
    const last = paragraphs.at(-1)
    if (last !== undefined && goesOn(last, next)) {
      last.text = (isDelSp ? last.text.slice(0, -1) : last.text) + next.text
      last.isOpen = next.isOpen
    } else {
      paragraphs.push(next)
    }
  }
  return paragraphs.map(writeParagraph).join('\n')
}

/** Behind the quote marks a space may have been put (section 4.4). */
function readLine(line: string): Paragraph {
  const depth = /^>*/.exec(line)?.[0].length ?? 0
  const text = line.slice(line[depth] === ' ' ? depth + 1 : depth)
  return { depth, text, isOpen: text.endsWith(' ') && text !== SIGNATURE }
}

function goesOn(last: Paragraph, { depth, text }: Paragraph): boolean {
  return last.isOpen && last.depth === depth && text !== '' && text !== SIGNATURE
}

function writeParagraph({ depth, text }: Paragraph): string {
  if (depth === 0) return text
  return '>'.repeat(depth) + (text === '' ? '' : ` ${text}`)
}
