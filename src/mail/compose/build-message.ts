/**
 * From an email row to the message on the wire. Pure: the same source gives the same bytes, at
 * every attempt and at every later look (the DKIM signature, which has a time, comes after this).
 *
 * One rendering pass, here and nowhere else: subject and body are templates, the values of
 * `variables` never are. Subject and text are plain, the body of an HTML message is HTML.
 */

import { appendToBody, wrapDocument } from '../html/document.ts'
import { type Footer, footerHtml, footerText } from '../html/footer.ts'
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
import { decodeAttachment, type SourceAttachment } from './attachment.ts'
import { costOfText, MAX_QUICK_COST_US } from './message-cost.ts'
import {
  type ComposedMessage,
  composeMessage,
  type Mailbox,
  type MessageInput,
} from './mime-message.ts'
import { QuickLimitError } from './quick-limit-error.ts'

/** What the recipients of one request or template version share. */
export type MessageContent = {
  id: string
  subject: string
  body: string
  /** `body` is plain text, and the message has no HTML part. */
  isText: boolean
  /** The text part beside HTML, a template too; null = made of the HTML. */
  text: string | null
  attachments: readonly SourceAttachment[]
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

/** So much longer than its template a text may be without being looked at. */
const FREE_GROWTH = 16_384

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

/** Of one of a message's templates. */
export type PartFault = TemplateFault & { part: 'subject' | 'body' | 'text' }

/** `faults`: at most one of each part. */
export type RenderedMessage = {
  subject: string
  html: string | null
  text: string
  faults: readonly PartFault[]
}

export type BuiltMessage = ComposedMessage & { subject: string; faults: readonly PartFault[] }

type RenderDeps = { cache: TemplateCache; limits: RenderLimits }

/**
 * What a person would read: subject, HTML and text with every value in its place. Nothing in it is
 * tracked, so that looking at it does not count.
 * @throws QuickLimitError where `limits` are the quick ones and do not suffice
 */
export function renderMessage(
  source: RenderSource,
  cache: TemplateCache,
  limits: RenderLimits = FULL_LIMITS,
): RenderedMessage {
  const means = { cache, limits }
  const subject = subjectOf(source, means)
  const { html, text, faults } = renderBody(source, means)
  return { subject: subject.text, html, text, faults: [...subject.faults, ...faults] }
}

/**
 * The whole message, unsigned. It says what `renderMessage` gives.
 * @throws QuickLimitError where `limits` are the quick ones and do not suffice
 */
export function buildMessage(
  source: MessageSource,
  cache: TemplateCache,
  limits: RenderLimits = FULL_LIMITS,
): BuiltMessage {
  const means = { cache, limits }
  const { html, text, document, faults } =
    fillPrecomposed(source, means) ?? writeBody(source, means)
  const subject = subjectOf(source, means)
  const composed = composeMessage({
    messageId: source.messageId,
    date: source.createdAt,
    from: source.from,
    to: source.to,
    replyTo: source.replyTo,
    subject: subject.text,
    html,
    text,
    headers: headerFields(source, document),
    attachments: source.content.attachments.map(decodeAttachment),
  })
  const all = subject.faults.length === 0 ? faults : [...subject.faults, ...faults]
  return { ...composed, subject: subject.text, faults: all }
}

/** `document`: the HTML as it is read, untracked. */
type Body = Pick<MessageInput, 'html' | 'text'> & {
  document: () => string
  faults: readonly PartFault[]
}

const NO_FAULTS: readonly PartFault[] = []

/** The short way, for a body whose template and values allow it. */
function fillPrecomposed(source: MessageSource, means: RenderDeps): Body | undefined {
  if (source.content.isText) return undefined
  const { isTracked, footer } = source
  const prepared = preparedBody(source, means.cache)
  const stencil = prepared.stencil({ isTracked, footer: footer?.language })
  const filling = stencil && fillPrecomposedBody(stencil, source, means.cache.tracker)
  if (filling === undefined) return undefined
  const own = ownText(source, means)
  const { fault } = prepared.template
  if (own === null && fault === undefined) return { ...filling, faults: NO_FAULTS }
  const faults = [...faultsOf('body', fault), ...(own?.faults ?? NO_FAULTS)]
  return { ...filling, text: own?.text ?? filling.text, faults }
}

/** The long way. */
function writeBody(source: MessageSource, means: RenderDeps): Body {
  const { html, text, faults } = renderBody(source, means)
  const document = () => html ?? ''
  if (html === null || !source.isTracked) return { html, text, document, faults }
  const { cache } = means
  const tracked = { emailId: source.emailId, numbers: preparedBody(source, cache).numbers() }
  return { html: trackDocument(html, cache.tracker, tracked), text, document, faults }
}

function renderBody(source: RenderSource, means: RenderDeps): Omit<RenderedMessage, 'subject'> {
  const { content, variables, language, footer } = source
  const { template } = preparedBody(source, means.cache)
  const body = renderTemplate(template, variables, optionsOf(source, means))
  if (means.limits.isQuick) checkGrowth(content.body, body.text)
  const faults = faultsOf('body', body.fault)
  if (content.isText) return { html: null, text: withFooter(body.text, footer), faults }
  const document = wrapDocument(body.text, language)
  const html = footer === null ? document : appendToBody(document, footerHtml(footer))
  const own = ownText(source, means)
  if (own === null) return { html, text: htmlToText(html), faults }
  return { html, text: own.text, faults: [...faults, ...own.faults] }
}

/** The text part that the content brings beside its HTML. */
function ownText(source: RenderSource, means: RenderDeps) {
  const { content, isPlain, variables, footer } = source
  if (content.isText || content.text === null) return null
  const { template } = means.cache.prepare(content.text, { format: 'text', isPlain })
  const { text, fault } = renderTemplate(template, variables, optionsOf(source, means))
  if (means.limits.isQuick) checkGrowth(content.text, text)
  return { text: withFooter(text, footer), faults: faultsOf('text', fault) }
}

function withFooter(text: string, footer: Footer | null): string {
  return footer === null ? text : `${text.trimEnd()}\n\n${footerText(footer)}\n`
}

function subjectOf(source: RenderSource, means: RenderDeps) {
  const { content, isPlain, variables } = source
  const { template } = means.cache.prepare(content.subject, { format: 'text', isPlain })
  const { text, fault } = renderSubject(template, variables, optionsOf(source, means))
  return { text, faults: faultsOf('subject', fault) }
}

function optionsOf({ createdAt }: RenderSource, { limits }: RenderDeps): RenderOptions {
  return { at: createdAt, limits }
}

function faultsOf(part: PartFault['part'], fault: TemplateFault | undefined): readonly PartFault[] {
  return fault === undefined ? NO_FAULTS : [{ part, ...fault }]
}

/** Where few is to be done, a template may not have made much of a text. @throws QuickLimitError */
function checkGrowth(template: string, text: string): void {
  if (text.length <= template.length + FREE_GROWTH) return
  if (costOfText(text) > MAX_QUICK_COST_US) throw new QuickLimitError()
}

function preparedBody({ content, isPlain }: RenderSource, cache: TemplateCache): PreparedTemplate {
  return cache.prepare(content.body, { format: content.isText ? 'text' : 'html', isPlain })
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
