/**
 * From an email row to the message on the wire. Pure: the same source gives the same bytes, at
 * every attempt and at every later look (the DKIM signature, which has a time, comes after this).
 *
 * One rendering pass, here and nowhere else: subject and body are templates, the values of
 * `variables` never are. Subject and text are plain, the body of an HTML message is HTML.
 */
import { type Attachment, type ComposedMessage, composeMessage, type Mailbox } from './compose.ts'
import { wrapDocument } from './document.ts'
import { htmlToText } from './plain-text.ts'
import { type Filling, fillStencil } from './stencil.ts'
import { renderSubject, renderTemplate, type Variables } from './template.ts'
import type { PreparedTemplate, TemplateCache } from './template-cache.ts'

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

/** Plain data, so that it can cross to a thread. */
export type MessageSource = {
  content: MessageContent
  messageId: string
  /** Epoch ms; the Date field. */
  createdAt: number
  from: Mailbox
  to: Mailbox
  replyTo: Mailbox
  /** The caller's own fields; they replace ours of the same name. */
  headers: Readonly<Record<string, string>> | null
  variables: Variables
  /** BCP 47, for the document wrapped around a bare body. */
  language: string
  feedbackId: string
  /** Marketing, or part of a campaign: asks that nobody's robot answers. */
  isBulk: boolean
  /** Where one click unsubscribes (RFC 8058); null where no such address can be offered. */
  oneClickUrl: string | null
  /** Marketing always says how to unsubscribe; other mail when its HTML links one of these. */
  isMarketing: boolean
  preferenceUrls: readonly string[]
  /** Only placeholders are filled in: a full rendering of this content had to be stopped. */
  isPlain?: boolean
}

export type RenderedMessage = { subject: string; html: string | null; text: string }

export type BuiltMessage = ComposedMessage & { subject: string }

/** What a person would read: subject, HTML and text with every value in its place. */
export function renderMessage(source: MessageSource, cache: TemplateCache): RenderedMessage {
  const subject = subjectOf(source, cache)
  const { template } = preparedBody(source, cache)
  const body = renderTemplate(template, source.variables, source.createdAt)
  if (source.content.isText) return { subject, html: null, text: body }
  const html = wrapDocument(body, source.language)
  return { subject, html, text: htmlToText(html) }
}

/** The whole message, unsigned. It says what `renderMessage` gives. */
export function buildMessage(source: MessageSource, cache: TemplateCache): BuiltMessage {
  const filling = fillBody(source, cache)
  const rendered = filling === undefined ? renderMessage(source, cache) : undefined
  const subject = rendered?.subject ?? subjectOf(source, cache)
  const composed = composeMessage({
    messageId: source.messageId,
    date: source.createdAt,
    from: source.from,
    to: source.to,
    replyTo: source.replyTo,
    subject,
    html: (filling ?? rendered)?.html ?? null,
    text: (filling ?? rendered)?.text ?? null,
    headers: headerFields(source, () => filling?.document() ?? rendered?.html ?? ''),
    attachments: source.content.attachments.map(decodeAttachment),
  })
  return { ...composed, subject }
}

/** The short way, for a body whose template and values allow it. */
function fillBody(source: MessageSource, cache: TemplateCache): Filling | undefined {
  const stencil = source.content.isText ? undefined : preparedBody(source, cache).stencil()
  return stencil === undefined ? undefined : fillStencil(stencil, source)
}

function subjectOf({ content, isPlain, ...source }: MessageSource, cache: TemplateCache): string {
  const { template } = cache.prepare(content.subject, { target: 'text', isPlain })
  return renderSubject(template, source.variables, source.createdAt)
}

function preparedBody({ content, isPlain }: MessageSource, cache: TemplateCache): PreparedTemplate {
  return cache.prepare(content.body, { target: content.isText ? 'text' : 'html', isPlain })
}

function headerFields(source: MessageSource, html: () => string): [string, string][] {
  const fields: [string, string][] = [['Feedback-ID', source.feedbackId]]
  if (source.oneClickUrl !== null && offersPreferences(source, html)) {
    fields.push(['List-Unsubscribe', `<${source.oneClickUrl}>`])
    fields.push(['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'])
  }
  if (source.isBulk) {
    fields.push(['Precedence', 'bulk'])
    fields.push(['Auto-Submitted', 'auto-generated'])
    fields.push(['X-Auto-Response-Suppress', 'All'])
  }
  return overrideFields(fields, source.headers)
}

function offersPreferences(source: MessageSource, html: () => string): boolean {
  if (source.isMarketing) return true
  const document = html()
  return source.preferenceUrls.some((url) => document.includes(url))
}

function overrideFields(
  ours: [string, string][],
  theirs: Readonly<Record<string, string>> | null,
): [string, string][] {
  if (theirs === null) return ours
  const names = new Set(Object.keys(theirs).map((name) => name.toLowerCase()))
  const kept = ours.filter(([name]) => !names.has(name.toLowerCase()))
  return [...kept, ...Object.entries(theirs)]
}

function decodeAttachment(attachment: SourceAttachment): Attachment {
  return { ...attachment, content: Buffer.from(attachment.content, 'base64') }
}
