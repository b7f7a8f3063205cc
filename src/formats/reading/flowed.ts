/**
 * Joins the lines of `format=flowed` text (RFC 3676): a line that ends in a space continues on the
 * next one if both have the same quote depth. A blank line or a signature always ends a paragraph.
 */
type Line = { depth: number; text: string; isOpen: boolean }
/** `texts`: joined once, because a long text is expensive to cut. */
type Paragraph = { depth: number; texts: string[]; isOpen: boolean }

const SIGNATURE = '-- '
/** Paragraphs are joined in groups, because millions of short strings take far more memory than their text. */
const GROUP = 1_000

/** `text`: with LF line ends. `isDelSp`: the space before a line end is not part of the text. */
export function unflow(text: string, isDelSp: boolean): string {
  const groups: string[] = []
  let paragraphs: string[] = []
  let last: Paragraph | undefined
  for (let at = 0; at <= text.length; ) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const next = readLine(text.slice(at, end))
    at = end + 1
    if (last !== undefined && isContinued(last, next)) {
      if (isDelSp) last.texts.push((last.texts.pop() ?? '').slice(0, -1))
      last.texts.push(next.text)
      last.isOpen = next.isOpen
      continue
    }
    if (last !== undefined) paragraphs.push(writeParagraph(last))
    last = { ...next, texts: [next.text] }
    if (paragraphs.length < GROUP) continue
    groups.push(paragraphs.join('\n'))
    paragraphs = []
  }
  if (last !== undefined) paragraphs.push(writeParagraph(last))
  return [...groups, paragraphs.join('\n')].join('\n')
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
