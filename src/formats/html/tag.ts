/**
 * Reads the tags of an HTML document as a browser does (WHATWG HTML, section 13.2.5), without
 * building a tree. No input is an error. Every function takes linear time.
 */

/** `at`: the offset of the tag's `<`; `end`: the offset after its `>`; `name`: in lower case. */
export type Tag = {
  name: string
  isClosing: boolean
  at: number
  attributesAt: number
  end: number
}

const SPACE = 0x20
const SLASH = 0x2f
const EQUALS = 0x3d
const GREATER_THAN = 0x3e
/**
 * Only HTML's own white space separates attributes: U+00A0, for example, is part of a name or
 * value.
 */
const ATTRIBUTE =
  /[\t\n\f\r /]*([^\t\n\f\r />][^\t\n\f\r />=]*)(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"|'([^']*)'|([^\t\n\f\r >]*)))?/y
const COMMENT_END = /--!?>/g

/** Raw elements: their content is neither markup nor text for readers. */
const RAW_TEXT_ELEMENTS = new Set([
  'script',
  'style',
  'title',
  'textarea',
  'xmp',
  'iframe',
  'noframes',
])

/**
 * `value`: the value of an attribute, undecoded; `from` and `to`: the offsets of the value with its
 * quotes.
 */
export type AttributePlace = { from: number; to: number; value: string }

/**
 * Reads the markup at the `<` at `at`: returns a tag, the offset after a comment or declaration, or
 * undefined if it is text. Unclosed markup reaches to the end of the document.
 */
export function readMarkup(html: string, at: number): Tag | number | undefined {
  const isClosing = html.charCodeAt(at + 1) === SLASH
  const nameAt = isClosing ? at + 2 : at + 1
  if (isLetter(html.charCodeAt(nameAt))) {
    const attributesAt = nameEnd(html, nameAt + 1)
    const name = lowerCase(html.slice(nameAt, attributesAt))
    const end = tagEnd(html, attributesAt)
    return end === -1 ? html.length : { name, isClosing, at, attributesAt, end }
  }
  if (html.startsWith('!--', at + 1)) return afterComment(html, at) ?? html.length
  const next = html[at + 1]
  return next === '!' || next === '?' || next === '/' ? offsetAfter(html, '>', at + 2) : undefined
}

/** The attributes of a tag, names in lower case, values as written; the first of a name counts. */
export function readAttributes(html: string, tag: Tag): Map<string, string> {
  const attributes = new Map<string, string>()
  ATTRIBUTE.lastIndex = tag.attributesAt
  for (;;) {
    const match = ATTRIBUTE.exec(html)
    if (match === null || ATTRIBUTE.lastIndex > tag.end) return attributes
    const name = (match[1] ?? '').toLowerCase()
    const value = match[2] ?? match[3] ?? match[4] ?? ''
    if (!attributes.has(name)) attributes.set(name, value)
  }
}

/** The place of an attribute's value; undefined without the attribute or without a value. */
export function findAttribute(html: string, tag: Tag, wanted: string): AttributePlace | undefined {
  ATTRIBUTE.lastIndex = tag.attributesAt
  for (;;) {
    const match = ATTRIBUTE.exec(html)
    if (match === null || ATTRIBUTE.lastIndex > tag.end) return undefined
    const [, name = '', double, single, bare] = match
    if (name.toLowerCase() !== wanted) continue
    const value = double ?? single ?? bare
    if (value === undefined) return undefined
    const to = ATTRIBUTE.lastIndex
    return { from: to - value.length - (bare === undefined ? 2 : 0), to, value }
  }
}

/**
 * Visits each tag in order, except in comments and in the content of raw elements. Returns the
 * offset at which the visible document ends: before an unclosed tag or comment, which hides the
 * rest.
 */
export function eachTag(html: string, visit: (tag: Tag) => void): number {
  let at = html.indexOf('<')
  while (at !== -1) {
    const markup = readMarkup(html, at)
    if (typeof markup === 'object') visit(markup)
    const next = typeof markup === 'object' ? afterTag(html, markup) : (markup ?? at + 1)
    if (next === html.length && isOpen(html, at, markup)) return at
    at = html.indexOf('<', next)
  }
  return html.length
}

/** Whether the element's content is neither markup nor text to read. */
export function isRawElement(name: string): boolean {
  return RAW_TEXT_ELEMENTS.has(name)
}

/**
 * The offset at which reading continues: after the tag, and for a raw element after its content.
 */
export function afterTag(html: string, { name, isClosing, end }: Tag): number {
  return RAW_TEXT_ELEMENTS.has(name) && !isClosing ? findClosingTag(html, name, end) : end
}

/** The offset of the tag that closes the raw element (`style`, `script`). */
function findClosingTag(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}(?=[\\t\\n\\f\\r />])`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? html.length
}

function nameEnd(html: string, from: number): number {
  for (let at = from; at < html.length; at += 1) {
    const code = html.charCodeAt(at)
    if (code === GREATER_THAN || code === SLASH || isBlank(code)) return at
  }
  return html.length
}

/** Whether markup that reaches the end of the document was never closed. */
function isOpen(html: string, at: number, markup: Tag | number | undefined): boolean {
  if (markup === undefined) return false
  if (typeof markup === 'object') return RAW_TEXT_ELEMENTS.has(markup.name) && !markup.isClosing
  if (html.startsWith('!--', at + 1)) return afterComment(html, at) === undefined
  return /^<\/?[a-zA-Z]/.test(html.slice(at, at + 3)) || !html.endsWith('>')
}

/** Lower-cases a name, without a copy in the usual case that it is lower case already. */
function lowerCase(name: string): string {
  return /[^a-z\d]/.test(name) ? name.toLowerCase() : name
}

function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}

/**
 * The offset after the tag's `>`. A quote counts only at the beginning of a value, so not in
 * `<p don't>` or `<p a=b="c>`.
 */
function tagEnd(html: string, from: number): number {
  let at = from
  while (at < html.length) {
    const code = html.charCodeAt(at)
    if (code === GREATER_THAN) return at + 1
    if (code === SLASH || isBlank(code)) {
      at += 1
      continue
    }
    at = skipBlanks(html, skipName(html, at))
    if (html.charCodeAt(at) !== EQUALS) continue
    at = valueEnd(html, skipBlanks(html, at + 1))
    if (at === -1) return -1
  }
  return -1
}

/** The offset after the name of an attribute; a name may begin with an equals sign. */
function skipName(html: string, from: number): number {
  let at = from + 1
  while (at < html.length) {
    const code = html.charCodeAt(at)
    if (code === EQUALS || code === GREATER_THAN || code === SLASH || isBlank(code)) return at
    at += 1
  }
  return at
}

/** The offset after a value and its closing quote; -1 if the value has an opening quote only. */
function valueEnd(html: string, from: number): number {
  const quote = html[from]
  if (quote === '"' || quote === "'") return html.indexOf(quote, from + 1) + 1 || -1
  let at = from
  while (
    at < html.length &&
    html.charCodeAt(at) !== GREATER_THAN &&
    !isBlank(html.charCodeAt(at))
  ) {
    at += 1
  }
  return at
}

function skipBlanks(html: string, from: number): number {
  let at = from
  while (at < html.length && isBlank(html.charCodeAt(at))) at += 1
  return at
}

/** Whether the character is a tab, a line end, a form feed or a space. */
function isBlank(code: number): boolean {
  return code <= SPACE && (code === SPACE || (code >= 0x09 && code <= 0x0d && code !== 0x0b))
}

/**
 * The offset after a comment; undefined if the comment is not closed. `<!-->` and `<!--->` are
 * complete comments.
 */
function afterComment(html: string, at: number): number | undefined {
  if (html.startsWith('>', at + 4)) return at + 5
  if (html.startsWith('->', at + 4)) return at + 6
  COMMENT_END.lastIndex = at + 4
  return COMMENT_END.test(html) ? COMMENT_END.lastIndex : undefined
}

function offsetAfter(html: string, text: string, from: number): number {
  const at = html.indexOf(text, from)
  return at === -1 ? html.length : at + text.length
}
