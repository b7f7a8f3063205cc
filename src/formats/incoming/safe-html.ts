/**
 * Sanitises HTML of received mail for storage and display: keeps text, its structure, links and images
 * by URL. Removes scripts, styles, forms, frames, event handlers and data, and all URLs except
 * absolute http, https and mailto ones, so that none refers to the page that shows it.
 */
import sanitize, { type Attributes, type IOptions } from 'sanitize-html'

/** Longer sources are cut first: a source of this length takes hundreds of milliseconds. */
const MAX_LENGTH = 1_000_000
const MAX_DEPTH = 100
/** The cost of unclosed elements is quadratic in their number. */
const MAX_TAGS = 25_000

const OPTIONS: IOptions = {
  allowedTags: [
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'p', 'div', 'span', 'br', 'hr', 'center', 'address'],
    ...['article', 'section', 'header', 'footer', 'main', 'aside', 'figure', 'figcaption'],
    ...['a', 'img', 'b', 'strong', 'i', 'em', 'u', 's', 'strike', 'del', 'ins', 'mark', 'small'],
    ...['big', 'sub', 'sup', 'code', 'kbd', 'samp', 'var', 'pre', 'blockquote', 'q', 'cite'],
    ...['abbr', 'time', 'bdi', 'bdo', 'font', 'ul', 'ol', 'li', 'dl', 'dt', 'dd', 'wbr'],
    ...['table', 'caption', 'colgroup', 'col', 'thead', 'tbody', 'tfoot', 'tr', 'th', 'td'],
  ],
  allowedAttributes: {
    '*': ['dir', 'lang', 'title'],
    a: ['href'],
    img: ['src', 'alt', 'width', 'height'],
    td: ['colspan', 'rowspan', 'align', 'valign'],
    th: ['colspan', 'rowspan', 'align', 'valign'],
    ol: ['start', 'type'],
  },
  nonTextTags: [
    ...['script', 'style', 'title', 'template', 'textarea', 'option', 'noscript', 'iframe'],
    ...['object', 'svg', 'math', 'xmp', 'noembed', 'noframes', 'plaintext', 'select'],
  ],
  allowedSchemes: ['http', 'https', 'mailto'],
  allowedSchemesByTag: { img: ['http', 'https'] },
  allowProtocolRelative: false,
  disallowedTagsMode: 'discard',
  nestingLimit: MAX_DEPTH,
  enforceHtmlBoundary: false,
  transformTags: {
    a: (tagName, attributes) => ({
      tagName,
      attribs: without(attributes, 'href', /^(?:https?:\/\/|mailto:)/i),
    }),
    img: (tagName, attributes) => ({
      tagName,
      attribs: without(attributes, 'src', /^https?:\/\//i),
    }),
  },
}

/** Never throws. */
export function makeSafeHtml(html: string): string {
  return sanitize(cut(html), OPTIONS).trim()
}

function cut(html: string): string {
  let end = -1
  for (let tags = 0; tags < MAX_TAGS; tags += 1) {
    end = html.indexOf('<', end + 1)
    if (end === -1 || end > MAX_LENGTH) return html.slice(0, MAX_LENGTH)
  }
  return html.slice(0, end)
}

/** Removes the attribute unless its value is `allowed`; relative URLs would refer to the page. */
function without(attributes: Attributes, name: string, allowed: RegExp): Attributes {
  const { [name]: value, ...others } = attributes
  return value !== undefined && allowed.test(value.trim()) ? attributes : others
}
