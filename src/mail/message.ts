/**
 * From an email row to the message on the wire. Pure: the same source gives the same bytes, at
 * every attempt and at every later look (the DKIM signature, which has a time, comes after this).
 *
 * One rendering pass, here and nowhere else: subject and body are templates, the values of
 * `variables` never are. Subject and text are plain, the body of an HTML message is HTML.
 */
import {
  type Attachment,
  type ComposedMessage,
  composeMessage,
  type Mailbox,
  type MessageInput,
} from './compose.ts'
import { appendToBody, wrapDocument } from './document.ts'
import { type Footer, footerHtml, footerText } from './footer.ts'
import { htmlToText } from './plain-text.ts'
import { fillStencil } from './stencil.ts'
import { renderSubject, renderTemplate, type Variables } from './template.ts'
import type { PreparedTemplate, TemplateCache } from './template-cache.ts'
import { trackDocument } from './tracking.ts'

export { createTemplateCache, type TemplateCache } from './template-cache.ts'

/** What the recipients of one request or template version share. */
export type MessageContent = {
  id: string
  subject: string
  body: string
  /** `body` is plain text, and the message has no HTML part. */
  isText: boolean
  attachments: readonly SourceAttachment[]
}

/** An attachment as stored: `content` is base64. */
export type SourceAttachment = {
  filename: string
  contentType: string
  content: string
  contentId: string | null
  disposition: 'attachment' | 'inline'
}

/** What a message says is made of this. Plain data, so that it can cross to a thread. */
export type RenderSource = {
  content: MessageContent
  /** Epoch ms; the Date field. */
  createdAt: number
  variables: Variables
  /** BCP 47, for the document wrapped around a bare body. */
  language: string
  /** Of marketing mail. */
  footer: Footer | null
  /** Only placeholders are filled in: a full rendering of this content had to be stopped. */
  isPlain?: boolean
}

export type MessageSource = RenderSource & {
  emailId: string
  messageId: string
  from: Mailbox
  to: Mailbox
  replyTo: Mailbox
  /** The caller's own fields; they replace ours of the same name. */
  headers: Readonly<Record<string, string>> | null
  feedbackId: string
  /** The token by which a message that comes back says whose it was. */
  returnToken: string
  /** Marketing, or part of a campaign: asks that nobody's robot answers. */
  isBulk: boolean
  /** Whether opens and clicks are counted: HTML only. */
  isTracked: boolean
  /** Where one click unsubscribes (RFC 8058); null where no such address can be offered. */
  oneClickUrl: string | null
  /** Where a mail unsubscribes; null where none can be received. */
  unsubscribeMailbox: string | null
  /** Marketing always says how to unsubscribe; other mail when its HTML links one of these. */
  isMarketing: boolean
  preferenceUrls: readonly string[]
}

export type RenderedMessage = { subject: string; html: string | null; text: string }

export type BuiltMessage = ComposedMessage & { subject: string }

/**
 * What a person would read: subject, HTML and text with every value in its place. Nothing in it is
 * tracked, so that looking at it does not count.
 */
export function renderMessage(source: RenderSource, cache: TemplateCache): RenderedMessage {
  return { subject: subjectOf(source, cache), ...renderBody(source, cache) }
}

/** The whole message, unsigned. It says what `renderMessage` gives. */
export function buildMessage(source: MessageSource, cache: TemplateCache): BuiltMessage {
  const { html, text, document } = fillBody(source, cache) ?? writeBody(source, cache)
  const subject = subjectOf(source, cache)
  const composed = composeMessage({
    messageId: source.messageId,
    date: source.createdAt,
    from: source.from,
    to: source.to,
    replyTo: source.replyTo,
    subject,
    html,
    text,
    headers: headerFields(source, document),
    attachments: source.content.attachments.map(decodeAttachment),
  })
  return { ...composed, subject }
}

/** `document`: the HTML as it is read, untracked. */
type Body = Pick<MessageInput, 'html' | 'text'> & { document: () => string }

/** The short way, for a body whose template and values allow it. */
function fillBody(source: MessageSource, cache: TemplateCache): Body | undefined {
  if (source.content.isText) return undefined
  const { isTracked, footer } = source
  const stencil = preparedBody(source, cache).stencil({ isTracked, footer: footer?.language })
  return stencil === undefined ? undefined : fillStencil(stencil, source, cache.tracker)
}

/** The long way. */
function writeBody(source: MessageSource, cache: TemplateCache): Body {
  const { html, text } = renderBody(source, cache)
  const document = () => html ?? ''
  if (html === null || !source.isTracked) return { html, text, document }
  const tracked = { emailId: source.emailId, numbers: preparedBody(source, cache).numbers() }
  return { html: trackDocument(html, cache.tracker, tracked), text, document }
}

function renderBody(source: RenderSource, cache: TemplateCache): Omit<RenderedMessage, 'subject'> {
  const { content, variables, createdAt, language, footer } = source
  const body = renderTemplate(preparedBody(source, cache).template, variables, createdAt)
  if (content.isText) {
    const text = footer === null ? body : `${body.trimEnd()}\n\n${footerText(footer)}\n`
    return { html: null, text }
  }
  const document = wrapDocument(body, language)
  const html = footer === null ? document : appendToBody(document, footerHtml(footer))
  return { html, text: htmlToText(html) }
}

function subjectOf({ content, isPlain, ...source }: RenderSource, cache: TemplateCache): string {
  const { template } = cache.prepare(content.subject, { target: 'text', isPlain })
  return renderSubject(template, source.variables, source.createdAt)
}

function preparedBody({ content, isPlain }: RenderSource, cache: TemplateCache): PreparedTemplate {
  return cache.prepare(content.body, { target: content.isText ? 'text' : 'html', isPlain })
}

function headerFields(source: MessageSource, html: () => string): [string, string][] {
  const fields: [string, string][] = [
    ['Feedback-ID', source.feedbackId],
    ...unsubscribeFields(source, html),
  ]
  if (source.isBulk) {
    fields.push(['Precedence', 'bulk'])
    fields.push(['Auto-Submitted', 'auto-generated'])
    fields.push(['X-Auto-Response-Suppress', 'All'])
  }
  return [['X-Pillarbox-Id', source.returnToken], ...overrideFields(fields, source.headers)]
}

/** RFC 2369 section 3.2, RFC 8058 section 3.1. */
function unsubscribeFields(source: MessageSource, html: () => string): [string, string][] {
  const { oneClickUrl, unsubscribeMailbox } = source
  const places: string[] = []
  if (oneClickUrl !== null) places.push(`<${oneClickUrl}>`)
  if (unsubscribeMailbox !== null) places.push(`<mailto:${unsubscribeMailbox}?subject=unsubscribe>`)
  if (places.length === 0 || !offersPreferences(source, html)) return []
  const field: [string, string] = ['List-Unsubscribe', places.join(', ')]
  if (oneClickUrl === null) return [field]
  return [field, ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click']]
}

function offersPreferences(source: MessageSource, html: () => string): boolean {
  if (source.isMarketing) return true
  const document = html()
  return source.preferenceUrls.some((url) => document.includes(url))
}

/** One click is a promise about our own address: it goes with our List-Unsubscribe. */
function overrideFields(
  ours: [string, string][],
  theirs: Readonly<Record<string, string>> | null,
): [string, string][] {
  if (theirs === null) return ours
  const given = Object.entries(theirs).filter(([name]) => !/^x-pillarbox-/i.test(name))
  const names = new Set(given.map(([name]) => name.toLowerCase()))
  if (names.has('list-unsubscribe')) names.add('list-unsubscribe-post')
  const kept = ours.filter(([name]) => !names.has(name.toLowerCase()))
  return [...kept, ...given]
}

function decodeAttachment(attachment: SourceAttachment): Attachment {
  return { ...attachment, content: Buffer.from(attachment.content, 'base64') }
}
