/**
 * Tags of an HTML document as a browser cuts them (WHATWG HTML, section 13.2.5), as far as reading
 * needs it: no tree, no errors. Every function takes linear time.
 */

/** `at` is the offset of its `<`, `end` the one behind its `>`; `name` is in lower case. */
export type Tag = {
  name: string
  isClosing: boolean
  at: number
  attributesAt: number
  end: number
}

const opening = /<(\/?)([A-Za-z][^\s/>]*)/y
const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y

/**
 * What begins at the `<` at `at`: a tag, the offset behind a comment or declaration, or undefined
 * when it is text. What is not closed reaches to the end of the document.
 */
export function readMarkup(html: string, at: number): Tag | number | undefined {
  opening.lastIndex = at
  const match = opening.exec(html)
  if (match !== null) {
    const attributesAt = opening.lastIndex
    const [, slash, name = ''] = match
    const end = tagEnd(html, attributesAt)
    return { name: name.toLowerCase(), isClosing: slash === '/', at, attributesAt, end }
  }
  if (html.startsWith('<!--', at)) return behind(html, '-->', at + 4)
  const next = html[at + 1]
  return next === '!' || next === '?' || next === '/' ? behind(html, '>', at + 2) : undefined
}

/** The attributes of a tag, names in lower case, values as written; of several alike the first. */
export function readAttributes(html: string, tag: Tag): Map<string, string> {
  const attributes = new Map<string, string>()
  attribute.lastIndex = tag.attributesAt
  for (;;) {
    const match = attribute.exec(html)
    if (match === null || attribute.lastIndex > tag.end) return attributes
    const name = (match[1] ?? '').toLowerCase()
    const value = match[2] ?? match[3] ?? match[4] ?? ''
    if (!attributes.has(name)) attributes.set(name, value)
  }
}

/** The offset of the tag that closes an element whose content is no markup (`style`, `script`). */
export function findClosingTag(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? html.length
}

/** Quotes count only behind an equals sign: in `<p don't>` there is none. */
function tagEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at)
    if (code === 0x3e) return at + 1
    if (code !== 0x3d) continue
    const value = skipBlanks(html, at + 1)
    const quote = html[value]
    at = quote === '"' || quote === "'" ? behind(html, quote, value + 1) - 1 : value - 1
  }
  return html.length
}

function skipBlanks(html: string, from: number): number {
  let at = from
  while (at < html.length && html.charCodeAt(at) <= 0x20) at += 1
  return at
}

function behind(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from)
  return at === -1 ? html.length : at + text.length
}
