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

const space = 0x20
const slash = 0x2f
const equals = 0x3d
const greater = 0x3e
const attribute = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y

/**
 * What begins at the `<` at `at`: a tag, the offset behind a comment or declaration, or undefined
 * when it is text. What is not closed is nothing, and reaches to the end of the document.
 */
export function readMarkup(html: string, at: number): Tag | number | undefined {
  const isClosing = html.charCodeAt(at + 1) === slash
  const nameAt = isClosing ? at + 2 : at + 1
  if (isLetter(html.charCodeAt(nameAt))) {
    const attributesAt = nameEnd(html, nameAt + 1)
    const name = lowerCase(html.slice(nameAt, attributesAt))
    const end = tagEnd(html, attributesAt)
    return end === -1 ? html.length : { name, isClosing, at, attributesAt, end }
  }
  if (html.startsWith('!--', at + 1)) return behind(html, '-->', at + 4)
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

function nameEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at)
    if (code === greater || code === slash || code <= space) return at
  }
  return html.length
}

/** Names are in lower case nearly always, and then nothing is copied. */
function lowerCase(name: string): string {
  return /[^a-z\d]/.test(name) ? name.toLowerCase() : name
}

function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/** Quotes count only behind an equals sign: in `<p don't>` there is none. */
function tagEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at)
    if (code === greater) return at + 1
    if (code !== equals) continue
    const value = skipBlanks(html, at + 1)
    const quote = html[value]
    const isQuoted = quote === '"' || quote === "'"
    const close = isQuoted ? html.indexOf(quote, value + 1) : value - 1
    if (close === -1) return -1
    at = close
  }
  return -1
}

function skipBlanks(html: string, from: number): number {
  let at = from
  while (at < html.length && html.charCodeAt(at) <= space) at += 1
  return at
}

function behind(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from)
  return at === -1 ? html.length : at + text.length
}
