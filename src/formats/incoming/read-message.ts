/**
 * Reads sender, texts and attachments of a message to a mailbox, with mailparser. Content beyond
 * the limits on header sections and parts is left out. The contents of attachments are not
 * returned, because the message itself is stored. `makeSafeHtml` sanitises the HTML.
 */

import sanitize, { type Attributes, type IOptions } from 'sanitize-html'
import type { ParsedAddress } from '../address/address.ts'
import { readMailboxes } from '../address/parsed-mailboxes.ts'
import { MAX_LINE_OCTETS } from '../limits.ts'
import type { Damage } from '../parse/damage.ts'
import { readEntities, readText } from '../parse/entity.ts'
import { type ReadFile, type ReadMessage, readMessage } from '../reading/read-message.ts'
import { boundedLine } from './header.ts'

type IncomingAttachment = {
  filename: string | null
  /** The content type in lower case. */
  contentType: string
  sizeBytes: number
  contentId: string | null
  isInline: boolean
}

export type IncomingMail = {
  /** The first valid mailbox of From; null without one. */
  from: { address: ParsedAddress; name: string | null } | null
  replyTo: ParsedAddress | null
  /** The sanitised HTML; null if the message has no HTML part. */
  html: string | null
  text: string | null
  attachments: IncomingAttachment[]
  /** A limit was exceeded, and content was left out. */
  isPartial: boolean
  /** Sentences on the parts of the message that were lost, guessed or mended. */
  warnings: string[]
}

const MAX_PARTS = 300
const MAX_TEXT_LENGTH = 1_000_000
/**
 * Octets of a text that are decoded. Hardly any charset needs more than 4 octets for a character.
 */
const MAX_TEXT_BYTES = 4 * (MAX_TEXT_LENGTH + 1)
const MAX_ATTACHMENTS = 100
const MAX_NAME_LENGTH = 255
/**
 * Longer HTML is cut before it is sanitised: HTML of this length already takes hundreds of
 * milliseconds.
 */
const MAX_HTML_LENGTH = 1_000_000
const MAX_HTML_DEPTH = 100
/**
 * Further tags are cut off, because the cost of unclosed elements grows with the square of their
 * number.
 */
const MAX_TAGS = 25_000
const SANITIZER_OPTIONS: IOptions = {
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
  nestingLimit: MAX_HTML_DEPTH,
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

/** Reads the message. Never rejects, whatever the octets are. */
export async function readIncoming(raw: Buffer): Promise<IncomingMail> {
  const limits = { maxParts: MAX_PARTS, maxTextBytes: MAX_TEXT_BYTES }
  const read = await readMessage(raw, { keepsFiles: false, ...limits })
  const { html, damage } = read
  const text = textOf(read)
  const isLong = Math.max(html.length, text?.length ?? 0) > MAX_TEXT_LENGTH
  if (isLong) damage.addCut('Text', MAX_TEXT_LENGTH)
  if (read.subject.length > MAX_LINE_OCTETS) damage.addCut('Subject', MAX_LINE_OCTETS)
  if (read.files.length > MAX_ATTACHMENTS) {
    damage.add(`Attachments: only the first ${MAX_ATTACHMENTS} are listed.`)
  }
  if (read.error !== undefined) damage.add('Parts: too many, or too long; the rest was not read.')
  const from = readMailboxes(read.from, damage)[0] ?? null
  const replyTo = readMailboxes(read.replyTo, damage)[0]?.address ?? null
  const attachments = read.files.slice(0, MAX_ATTACHMENTS).map((file) => toAttachment(file, damage))
  const mail: IncomingMail = {
    from,
    replyTo,
    html: html === '' ? null : makeSafeHtml(html),
    text,
    attachments,
    isPartial:
      read.error !== undefined || isLong || read.isTextCut || read.files.length > MAX_ATTACHMENTS,
    warnings: damage.list(),
  }
  return read.error === undefined ? mail : withFirstText(mail, raw)
}

/**
 * The plain text of the message. Null if the message has only HTML, or if an HTML part has no
 * plain-text alternative.
 */
function textOf({ html, text, isTextWhole }: ReadMessage): string | null {
  if (html !== '' && (!isTextWhole || text.trim() === '')) return null
  return text.slice(0, MAX_TEXT_LENGTH).trimEnd().toWellFormed()
}

/**
 * Adds the first text of a message that could not be read to its end, unless the message already
 * has text.
 */
function withFirstText(mail: IncomingMail, raw: Buffer): IncomingMail {
  const first = readEntities(raw).find(({ type }) => /^text\/(?:plain|html)$/.test(type))
  const text = mail.text || (first === undefined ? null : readText(first).toWellFormed())
  return { ...mail, text }
}

function toAttachment(file: ReadFile, damage: Damage): IncomingAttachment {
  const { filename = '' } = file
  if (filename.length > MAX_NAME_LENGTH) damage.addCut('Filename', MAX_NAME_LENGTH)
  const isInline = file.contentDisposition === 'inline' || file.related || file.isAlternative
  return {
    filename: filename ? boundedLine(filename).slice(0, MAX_NAME_LENGTH) : null,
    contentType: boundedLine(file.contentType).slice(0, MAX_NAME_LENGTH).toLowerCase(),
    sizeBytes: file.size,
    contentId: file.cid ? boundedLine(file.cid).slice(0, MAX_NAME_LENGTH) : null,
    isInline,
  }
}

/**
 * Sanitises the HTML of received mail for storage and display. Keeps text and its structure, links,
 * and images with a URL. Removes scripts, styles, forms, frames, event handlers, embedded data, and
 * every URL that is not absolute http, https or mailto: a relative URL would refer to the page that
 * shows the mail.
 *
 * Never throws.
 */
export function makeSafeHtml(html: string): string {
  return sanitize(cut(html), SANITIZER_OPTIONS).trim()
}

function cut(html: string): string {
  let end = -1
  for (let tags = 0; tags < MAX_TAGS; tags += 1) {
    end = html.indexOf('<', end + 1)
    if (end === -1 || end > MAX_HTML_LENGTH) return html.slice(0, MAX_HTML_LENGTH)
  }
  return html.slice(0, end)
}

/**
 * Removes the attribute unless its value matches `allowed`: a relative URL would refer to the page
 * that shows the mail.
 */
function without(attributes: Attributes, name: string, allowed: RegExp): Attributes {
  const { [name]: value, ...others } = attributes
  return value !== undefined && allowed.test(value.trim()) ? attributes : others
}
