/** Converts plain text to HTML, in memory that hardly exceeds the result: texts may be megabytes of line ends. */
import { mapSlices } from '../parse/slices.ts'
import { escapeHtml } from '../template/characters.ts'

/** Lines are joined in groups, because millions of short strings take far more memory than their text. */
const GROUP = 1_000

/** Blank lines separate paragraphs; white space at the ends of lines is left out. */
export function textToHtml(text: string): string {
  const groups: string[] = []
  let lines: string[] = []
  let separator = ''
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    const line = text.slice(at, end).trimEnd()
    at = end + 1
    if (line === '') {
      if (separator !== '') separator = '</p><p>'
      continue
    }
    lines.push(separator, mapSlices(line, escapeHtml))
    separator = '<br/>'
    if (lines.length < GROUP) continue
    groups.push(lines.join(''))
    lines = []
  }
  return `<p>${groups.join('')}${lines.join('')}</p>`
}
