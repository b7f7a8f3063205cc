/**
 * Wraps a body of text with simple markup, as editors produce it, in a document with a typographic
 * style sheet. A body with its own layout is sent unchanged.
 */

import { escapeHtml } from '../template/characters.ts'
import { eachTag, readAttributes, readMarkup, type Tag } from './tag.ts'

/** Elements of simple text. Any other element shows that the body has its own layout. */
const PLAIN_ELEMENTS = new Set([
  ...['a', 'abbr', 'b', 'blockquote', 'br', 'cite', 'code', 'del', 'em', 'figcaption', 'figure'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'i', 'img', 'ins', 'kbd', 'li', 'mark', 'ol', 'p'],
  ...['pre', 'q', 's', 'small', 'span', 'strike', 'strong', 'sub', 'sup', 'time', 'u', 'ul', 'wbr'],
])

/**
 * The comment at the beginning of a body made from Markdown with tables. It says that the tables
 * are part of the text and not a layout.
 */
export const TABLES_OF_TEXT = '<!-- tables of text -->'

const TABLE_ELEMENTS = new Set(['table', 'thead', 'tbody', 'tr', 'th', 'td'])
const NONE: ReadonlySet<string> = new Set()

const CUSTOM_ATTRIBUTE = /^(?:id|class|role|data-.*|aria-.*|on.*)$/

/** The style sheet has no runs of blanks, so that the body is in DKIM's canonical form. */
const STYLE_SHEET = `
body { margin: 0; padding: 0; background: #ffffff; color: #1f2328; -webkit-text-size-adjust: 100%;
font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { display: block; box-sizing: border-box; max-width: 600px; margin: 0 auto; padding: 24px 16px;
overflow-wrap: break-word; }
h1, h2, h3, h4, h5, h6 { margin: 1.6em 0 .6em; line-height: 1.25; }
h1 { font-size: 28px; }
h2 { font-size: 23px; }
h3 { font-size: 19px; }
h4, h5, h6 { font-size: 16px; }
p, ul, ol, pre, blockquote, figure { margin: 0 0 1em; }
main > :first-child { margin-top: 0; }
main > :last-child { margin-bottom: 0; }
ul, ol { padding-left: 1.6em; }
li { margin: 0 0 .3em; }
a { color: #0b5cad; }
img { max-width: 100%; height: auto; border: 0; }
hr { margin: 2em 0; border: 0; border-top: 1px solid #d0d7de; }
blockquote { padding-left: 1em; border-left: 3px solid #d0d7de; color: #57606a; }
code, kbd, pre { font-family: ui-monospace, "SF Mono", Consolas, "Liberation Mono", monospace;
font-size: .9em; }
pre { padding: 12px; background: #f6f8fa; white-space: pre-wrap; }
figcaption, small { font-size: .85em; color: #57606a; }
`

const TABLE_STYLE = `table { border-collapse: collapse; margin: 0 0 1em; }
th, td { padding: 4px 12px 4px 0; border-bottom: 1px solid #d0d7de; vertical-align: top; }
th:not([align]) { text-align: left; }
`

/** The body as a complete HTML document, or unchanged if it is custom HTML. `lang` is BCP 47. */
export function wrapDocument(html: string, lang: string): string {
  const hasTables = html.startsWith(TABLES_OF_TEXT)
  const text = hasTables ? html.slice(TABLES_OF_TEXT.length) : html
  if (isCustomHtml(text, hasTables ? TABLE_ELEMENTS : NONE)) return html
  const style = hasTables ? STYLE_SHEET + TABLE_STYLE : STYLE_SHEET
  return `<!DOCTYPE html>
<html lang="${escapeHtml(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title></title>
<style>${style}</style>
</head>
<body>
<main>
${html}
</main>
</body>
</html>
`
}

/**
 * Inserts `addition` at the end of the visible document: before the last closing body tag, if there
 * is one.
 */
export function appendToBody(html: string, addition: string): string {
  const at = endOfBody(html)
  return html.slice(0, at) + addition + html.slice(at)
}

function endOfBody(html: string): number {
  return eachTagOfBody(html, () => undefined)
}

/**
 * Visits each tag, as `eachTag` does. Returns where the body ends: the offset of the last closing
 * body tag, or the end of the visible document.
 */
export function eachTagOfBody(html: string, visit: (tag: Tag) => void): number {
  let bodyEnd: number | undefined
  const end = eachTag(html, (tag) => {
    if (tag.isClosing && tag.name === 'body') bodyEnd = tag.at
    visit(tag)
  })
  return bodyEnd ?? end
}

/** Whether the markup has its own layout or style: tables, divs, forms, style blocks, media queries,
 * conditional comments, or attributes that scripts and style sheets refer to. */
function isCustomHtml(html: string, allowed: ReadonlySet<string>): boolean {
  let at = html.indexOf('<')
  while (at !== -1) {
    const markup = readMarkup(html, at)
    if (typeof markup === 'number') return true
    if (markup !== undefined && isCustomTag(html, markup, allowed)) return true
    at = html.indexOf('<', markup?.end ?? at + 1)
  }
  return false
}

function isCustomTag(html: string, tag: Tag, allowed: ReadonlySet<string>): boolean {
  if (!PLAIN_ELEMENTS.has(tag.name) && !allowed.has(tag.name)) return true
  if (tag.isClosing || tag.end - tag.attributesAt <= 1) return false
  const names = [...readAttributes(html, tag).keys()]
  // A table of Markdown has no attribute except the alignment of its columns.
  if (allowed.has(tag.name)) return names.some((name) => name !== 'align')
  return names.some((name) => CUSTOM_ATTRIBUTE.test(name))
}
