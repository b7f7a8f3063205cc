/**
 * Builds the message of an email. Pure: the same source gives the same octets at every attempt and
 * in every later preview. The DKIM signature, which contains a time, is added afterwards.
 *
 * Templates are rendered here and nowhere else, in one pass: subject, body and text part are
 * templates; the values of `variables` are not. Values are escaped only in an HTML body.
 */

import { appendToBody, wrapDocument } from '../html/document.ts'
import { type Footer, footerHtml, footerText, kindOfFooter } from '../html/footer.ts'
import { htmlToText } from '../html/html-to-text.ts'
import { trackDocument } from '../html/tracking.ts'
import { fillPrecomposedBody } from '../precomposed/body.ts'
import type { PreparedTemplate, TemplateCache } from '../precomposed/template-cache.ts'
import { FULL_LIMITS, type RenderLimits } from '../template/limits.ts'
import {
  type RenderOptions,
  renderSubject,
  renderTemplate,
  type TemplateFault,
} from '../template/template.ts'
import type { Variables } from '../template/variables.ts'
import { decodeAttachment } from './attachment.ts'
import { placeInText } from './embedded-files.ts'
import type { Mailbox } from './mailbox-field.ts'
import type { MessageContent } from './message-content.ts'
import { costOfText, MAX_QUICK_COST_US } from './message-cost.ts'
import { composeMessage, type MessageInput, type MimeMessage } from './mime-message.ts'
import { QuickLimitError } from './quick-limit-error.ts'

/** The source of subject and body. It is plain data, so that a thread can receive it. */
export type RenderSource = {
  content: MessageContent
  /** Epoch ms; becomes the Date field. */
  createdAt: number
  variables: Variables
  /** BCP 47 tag of the document that is put around a simple body. */
  language: string
  /** The footer of marketing mail; null for other mail. */
  footer: Footer | null
  /** Fill in placeholders only, because an earlier full rendering of this content was stopped. */
  isPlain?: boolean
}

/**
 * A rendered text is measured only if it is longer than its template by more than this number of
 * characters.
 */
const MAX_UNMEASURED_GROWTH = 16_384

export type MessageSource = RenderSource & {
  emailId: string
  messageId: string
  from: Mailbox
  to: Mailbox
  replyTo: Mailbox
  /** The caller's own fields; they replace generated fields of the same name. */
  headers: Readonly<Record<string, string>> | null
  feedbackId: string
  /** The token in X-Pillarbox-Id. It identifies the email when a report returns the message. */
  returnToken: string
  /** The message is a test of a campaign; the field X-Pillarbox-Test says so. */
  isTest?: boolean
  /** Marketing mail or mail of a campaign, with fields that ask autoresponders not to reply. */
  isBulk: boolean
  /** Whether opens and clicks are tracked; only HTML can be tracked. */
  isTracked: boolean
  /** URL of the one-click unsubscription (RFC 8058); null if it cannot be offered. */
  oneClickUrl: string | null
  /** The address for unsubscribing by mail; null if the server cannot receive mail. */
  unsubscribeMailbox: string | null
  /** Marketing mail has the List-Unsubscribe fields, whatever its HTML contains. */
  isMarketing: boolean
  /**
   * Mail that is not marketing has the List-Unsubscribe fields only if its HTML contains one of
   * these URLs.
   */
  preferenceUrls: readonly string[]
}

/** A fault in one of a message's templates. */
export type PartFault = TemplateFault & { part: 'subject' | 'body' | 'text' }

/** `faults`: at most one fault for the subject, one for the body and one for the text part. */
export type RenderedMessage = {
  subject: string
  html: string | null
  text: string
  faults: readonly PartFault[]
}

export type BuiltMessage = MimeMessage & { subject: string; faults: readonly PartFault[] }

type RenderDeps = { cache: TemplateCache; limits: RenderLimits }

/**
 * Renders subject, HTML and text for a preview. Nothing is tracked, so a preview does not count as
 * an open.
 * @throws QuickLimitError if `limits` are the quick ones and do not suffice
 */
export function renderMessage(
  source: RenderSource,
  cache: TemplateCache,
  limits: RenderLimits = FULL_LIMITS,
): RenderedMessage {
  const deps = { cache, limits }
  const subject = subjectOf(source, deps)
  const { html, text, faults } = renderBody(source, deps)
  return { subject: subject.text, html, text, faults: [...subject.faults, ...faults] }
}

/**
 * Builds the whole message, unsigned, with the texts that `renderMessage` gives.
 * @throws QuickLimitError if `limits` are the quick ones and do not suffice
 */
export function buildMessage(
  source: MessageSource,
  cache: TemplateCache,
  limits: RenderLimits = FULL_LIMITS,
): BuiltMessage {
  const deps = { cache, limits }
  const { html, text, document, faults } = fillPrecomposed(source, deps) ?? writeBody(source, deps)
  const subject = subjectOf(source, deps)
  const message: MessageInput = {
    messageId: source.messageId,
    date: source.createdAt,
    from: source.from,
    to: source.to,
    recipientFields: source.content.recipientFields,
    replyTo: source.replyTo,
    subject: subject.text,
    html,
    text,
    headers: headerFields(source, document),
    attachments: placeInText(source.content.attachments, document).map(decodeAttachment),
  }
  const composed = composeMessage(message, cache.memo)
  const all = subject.faults.length === 0 ? faults : [...subject.faults, ...faults]
  return { ...composed, subject: subject.text, faults: all }
}

/** `document`: returns the HTML without tracking. */
type Body = Pick<MessageInput, 'html' | 'text'> & {
  document: () => string
  faults: readonly PartFault[]
}

const NO_FAULTS: readonly PartFault[] = []

/** Fills the precomposed body; undefined if the template or the values do not allow this. */
function fillPrecomposed(source: MessageSource, deps: RenderDeps): Body | undefined {
  if (source.content.isText) return undefined
  const { isTracked, footer } = source
  const prepared = preparedBody(source, deps.cache)
  const body = prepared.precomposed({
    isTracked,
    footer: footer ? kindOfFooter(footer) : undefined,
  })
  const filled = body && fillPrecomposedBody(body, source, deps.cache.tracker)
  if (filled === undefined) return undefined
  const own = ownText(source, deps)
  const { fault } = prepared.template
  if (own === null && fault === undefined) return { ...filled, faults: NO_FAULTS }
  const faults = [...faultsOf('body', fault), ...(own?.faults ?? NO_FAULTS)]
  return { ...filled, text: own?.text ?? filled.text, faults }
}

/** Renders the body in full, without a precomposed body. */
function writeBody(source: MessageSource, deps: RenderDeps): Body {
  const { html, text, faults } = renderBody(source, deps)
  const document = () => html ?? ''
  if (html === null || !source.isTracked) return { html, text, document, faults }
  const { cache } = deps
  const tracked = { emailId: source.emailId, numbers: preparedBody(source, cache).numbers() }
  return { html: trackDocument(html, cache.tracker, tracked), text, document, faults }
}

function renderBody(source: RenderSource, deps: RenderDeps): Omit<RenderedMessage, 'subject'> {
  const { content, variables, language, footer } = source
  const { template } = preparedBody(source, deps.cache)
  const body = renderTemplate(template, variables, optionsOf(source, deps))
  if (deps.limits.isQuick) checkGrowth(content.body, body.text)
  const faults = faultsOf(content.isText ? 'text' : 'body', body.fault)
  if (content.isText) return { html: null, text: withFooter(body.text, footer), faults }
  const document = wrapDocument(body.text, language)
  const html = footer === null ? document : appendToBody(document, footerHtml(footer))
  const own = ownText(source, deps)
  if (own === null) return { html, text: htmlToText(html), faults }
  return { html, text: own.text, faults: [...faults, ...own.faults] }
}

/** The rendered text part of a content that has both HTML and a text; null for other contents. */
function ownText(source: RenderSource, deps: RenderDeps) {
  const { content, isPlain, variables, footer } = source
  if (content.isText || content.text === null) return null
  const { isLiteral } = content
  const { template } = deps.cache.prepare(content.text, { format: 'text', isPlain, isLiteral })
  const { text, fault } = renderTemplate(template, variables, optionsOf(source, deps))
  if (deps.limits.isQuick) checkGrowth(content.text, text)
  return { text: withFooter(text, footer), faults: faultsOf('text', fault) }
}

function withFooter(text: string, footer: Footer | null): string {
  return footer === null ? text : `${text.trimEnd()}\n\n${footerText(footer)}\n`
}

function subjectOf(source: RenderSource, deps: RenderDeps) {
  const { content, isPlain, variables } = source
  const { isLiteral } = content
  const { template } = deps.cache.prepare(content.subject, { format: 'text', isPlain, isLiteral })
  const { text, fault } = renderSubject(template, variables, optionsOf(source, deps))
  return { text, faults: faultsOf('subject', fault) }
}

function optionsOf({ createdAt }: RenderSource, { limits }: RenderDeps): RenderOptions {
  return { at: createdAt, limits }
}

function faultsOf(part: PartFault['part'], fault: TemplateFault | undefined): readonly PartFault[] {
  return fault === undefined ? NO_FAULTS : [{ part, ...fault }]
}

/**
 * @throws QuickLimitError if the rendered text is too expensive for a thread where other work waits
 */
function checkGrowth(template: string, text: string): void {
  if (text.length <= template.length + MAX_UNMEASURED_GROWTH) return
  if (costOfText(text) > MAX_QUICK_COST_US) throw new QuickLimitError()
}

function preparedBody({ content, isPlain }: RenderSource, cache: TemplateCache): PreparedTemplate {
  const { isText, isLiteral } = content
  return cache.prepare(content.body, { format: isText ? 'text' : 'html', isPlain, isLiteral })
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
  const own: [string, string][] = [['X-Pillarbox-Id', source.returnToken]]
  if (source.isTest === true) own.push(['X-Pillarbox-Test', '1'])
  return [...own, ...overrideFields(fields, source.headers)]
}

/**
 * The fields List-Unsubscribe (RFC 2369 section 3.2) and List-Unsubscribe-Post (RFC 8058 section
 * 3.1).
 */
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

/**
 * Replaces generated fields by the caller's. A caller's List-Unsubscribe also removes
 * List-Unsubscribe-Post, which refers to Pillarbox's URL.
 */
function overrideFields(
  generated: [string, string][],
  custom: Readonly<Record<string, string>> | null,
): [string, string][] {
  if (custom === null) return generated
  const allowed = Object.entries(custom).filter(([name]) => !/^x-pillarbox-/i.test(name))
  const names = new Set(allowed.map(([name]) => name.toLowerCase()))
  if (names.has('list-unsubscribe')) names.add('list-unsubscribe-post')
  const kept = generated.filter(([name]) => !names.has(name.toLowerCase()))
  return [...kept, ...allowed]
}
