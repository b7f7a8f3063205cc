/**
 * Joins the lines of `format=flowed` text (RFC 3676): a line that ends in a space continues on the
 * next one if both have the same quote depth. A blank line or a signature always ends a paragraph.
 */
type Line = { depth: number; text: string; isOpen: boolean }
/** `texts`: joined once, because a long text is expensive to cut. */
type Paragraph = { depth: number; texts: string[]; isOpen: boolean }

const SIGNATURE = '-- '

/** `text`: with LF line ends. `isDelSp`: the space before a line end is not part of the text. */
export function unflow(text: string, isDelSp: boolean): string {
  const paragraphs: Paragraph[] = []
  for (const line of text.split('\n')) {
    const next = readLine(line)
    const last = paragraphs.at(-1)
    if (last !== undefined && isContinued(last, next)) {
      if (isDelSp) last.texts.push((last.texts.pop() ?? '').slice(0, -1))
      last.texts.push(next.text)
      last.isOpen = next.isOpen
    } else {
      paragraphs.push({ ...next, texts: [next.text] })
    }
  }
  return paragraphs.map(writeParagraph).join('\n')
}

/** A space after the quote marks may be stuffing (section 4.4). */
function readLine(line: string): Line {
  const depth = /^>*/.exec(line)?.[0].length ?? 0
  const text = line.slice(line[depth] === ' ' ? depth + 1 : depth)
  return { depth, text, isOpen: text.endsWith(' ') && text !== SIGNATURE }
}

function isContinued(last: Paragraph, { depth, text }: Line): boolean {
  return last.isOpen && last.depth === depth && text !== '' && text !== SIGNATURE
}

function writeParagraph({ depth, texts }: Paragraph): string {
  const text = texts.join('')
  if (depth === 0) return text
  return '>'.repeat(depth) + (text === '' ? '' : ` ${text}`)
}
