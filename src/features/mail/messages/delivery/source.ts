/**
 * Makes the source of a message (`formats/compose/build-message.ts`) from the rows of an email. Deliveries
 * and previews share this code, so that a preview shows the message as it was sent.
 */
import { parseAddress } from '../../../../formats/address/address.ts'
import type { MessageSource, RenderSource } from '../../../../formats/compose/build-message.ts'
import type { MessageContent } from '../../../../formats/compose/message-content.ts'
import { removeSmarthostHeaders } from '../../../../formats/compose/smarthost-header.ts'
import {
  createPageToken,
  createUnsubscribeLocalPart,
  type PageToken,
} from '../../../../formats/signed-tokens.ts'
import type { RowOf } from '../../../../store/database.ts'
import { addressDigest, listOf } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { type Project, projects } from '../../../../store/schema/accounts.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import type { Snapshot } from '../../../../store/schema/json-values.ts'
import { contents, type Email, emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { matchLanguage } from '../../../../texts/languages.ts'
import type { Base } from '../../../ground/base.ts'

/**
 * Reading a text of this length takes about a millisecond; the event loop runs other work after it.
 */
const LARGE_CHARACTERS = 128 * 1024

/** The columns of an email that its message needs. */
export const sourceColumns = {
  id: emails.id,
  projectId: emails.projectId,
  contactId: emails.contactId,
  contentId: emails.contentId,
  sourceType: emails.sourceType,
  isPlatform: emails.isPlatform,
  templateId: emails.templateId,
  campaignId: emails.campaignId,
  workflowExecutionId: emails.workflowExecutionId,
  isTest: emails.isTest,
  recipient: emails.recipient,
  toName: emails.toName,
  fromAddress: emails.fromAddress,
  fromName: emails.fromName,
  replyTo: emails.replyTo,
  subject: emails.subject,
  contentClass: emails.contentClass,
  isTracked: emails.isTracked,
  headers: emails.headers,
  variables: emails.variables,
  messageId: emails.messageId,
  createdAt: emails.createdAt,
}

const selectEmails = statement((db) =>
  db
    .select({
      ...sourceColumns,
      digest: sql<Buffer>`${addressDigest(emails.projectId, emails.recipient)}`,
      isSubscribed: contacts.subscribed,
      language: projects.language,
      projectName: projects.name,
      postalAddress: projects.postalAddress,
    })
    .from(emails)
    .innerJoin(contacts, eq(contacts.id, emails.contactId))
    .innerJoin(projects, eq(projects.id, emails.projectId))
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

const selectText = statement((db) =>
  db
    .select({
      id: contents.id,
      subject: contents.subject,
      body: contents.body,
      isText: contents.isText,
      text: contents.text,
      isLiteral: contents.isLiteral,
    })
    .from(contents)
    .where(eq(contents.id, parameter('id'))),
)

export type LoadedEmail = RowOf<typeof selectEmails>

/** `isSubscribed`: the current value, not the value at acceptance. */
type SourceRow = Pick<Email, keyof typeof sourceColumns> & {
  isSubscribed: boolean
  /** The digest of the recipient's address. */
  digest: Buffer
}

/** Loads emails for a preview; deleted ones are left out. */
export function loadEmails({ store }: Pick<Base, 'store'>, ids: readonly string[]) {
  return store.read.list(selectEmails, { ids: JSON.stringify(ids) })
}

/**
 * Loads contents by id, without attachments; those that retention cleared are left out. They are read
 * one by one, so that large ones do not block the reader.
 */
export async function loadTexts(
  { store }: Pick<Base, 'store'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MessageContent>> {
  const texts = new Map<string, MessageContent>()
  for (const id of new Set(ids)) {
    const row = await store.read.find(selectText, { id })
    if (row === undefined || row.body === null) continue
    texts.set(id, { ...row, body: row.body, attachments: [] })
    if (row.body.length > LARGE_CHARACTERS) await new Promise((resolve) => setImmediate(resolve))
  }
  return texts
}

/** The columns of an email that subject and body are rendered from. */
type RenderedRow = Pick<
  SourceRow,
  | 'id'
  | 'digest'
  | 'contactId'
  | 'recipient'
  | 'isSubscribed'
  | 'contentClass'
  | 'variables'
  | 'workflowExecutionId'
  | 'createdAt'
>

type RenderParts = {
  email: RenderedRow
  project: Pick<Project, 'name' | 'language' | 'postalAddress'>
  content: MessageContent
}

type SourceParts = RenderParts & { email: SourceRow }

/** The parts that a text is rendered from, without the columns that only the page links need. */
type Rendered = Omit<RenderParts, 'email'> & {
  email: Omit<RenderedRow, 'id' | 'digest' | 'workflowExecutionId'>
}

type Pages = ReturnType<typeof pageUrls> | undefined

/** The subject of page links that act for nobody. */
const LINKS_OF_NOBODY = { contactId: undefined, emailId: undefined, digest: undefined }

/** Makes the source of the preview of an email. */
export function toRenderSource(
  deps: Pick<Base, 'config' | 'keyring'>,
  parts: RenderParts,
): RenderSource {
  return renderSource(parts, findPages(deps, parts))
}

/** Makes the source of a preview whose page links unsubscribe nobody. */
export function toDetachedSource(
  deps: Pick<Base, 'config' | 'keyring'>,
  { email, project, content }: Rendered,
): RenderSource {
  const pages = mayLinkPages(email, content) ? pageUrls(deps, LINKS_OF_NOBODY) : undefined
  return renderSource({ email, project, content }, pages)
}

/** Makes the source of a message to send; pure. `returnPath`: the address for its bounces. */
export function toSource(
  deps: Pick<Base, 'config' | 'keyring'>,
  { returnPath, ...parts }: SourceParts & { returnPath: { token: string; domain: string } },
): MessageSource {
  const { email } = parts
  const pages = findPages(deps, parts)
  const isMarketing = email.contentClass === 'MARKETING'
  const from = wireAddress(email.fromAddress)
  const isInbound = deps.config.inbound.listen.length > 0
  return {
    ...renderSource(parts, pages),
    emailId: email.id,
    messageId: email.messageId,
    from: { address: from, name: email.fromName },
    to: { address: wireAddress(email.recipient), name: email.toName },
    replyTo: { address: email.replyTo === null ? from : wireAddress(email.replyTo), name: null },
    headers: smtpHeadersOf(deps, email),
    feedbackId: feedbackId(email),
    returnToken: returnPath.token,
    isTest: email.isTest,
    isBulk: isMarketing || email.campaignId !== null || email.isTest,
    isTracked: email.isTracked,
    oneClickUrl: pages && isOneClickPossible(deps.config.baseUrl) ? pages.unsubscribeUrl : null,
    unsubscribeMailbox:
      pages && isInbound ? unsubscribeMailbox(deps, email, returnPath.domain) : null,
    isMarketing,
    preferenceUrls: pages ? [pages.unsubscribeUrl, pages.manageUrl] : [],
  }
}

/**
 * Returns the headers to send. Only the operator controls the smarthost, so headers that steer it
 * are removed.
 */
function smtpHeadersOf({ config }: Pick<Base, 'config'>, { headers }: SourceRow) {
  if (headers === null || config.delivery.mode !== 'relay') return headers
  return removeSmarthostHeaders(headers)
}

/** The variables that Pillarbox sets for a contact, in a text that is not an email. */
export function contactVariables(
  deps: Pick<Base, 'config' | 'keyring'>,
  contact: Pick<Contact, 'id' | 'projectId' | 'address' | 'subscribed' | 'data'>,
): Record<string, unknown> {
  const { id, projectId, address, subscribed, data } = contact
  const locale = localeOf(data ?? {})
  const digest = deps.keyring.addressDigest(projectId, address)
  const pages = pageUrls(deps, { contactId: id, emailId: undefined, digest })
  return { ...systemValues({ id, email: address, subscribed }, locale), ...pages }
}

function renderSource({ email, project, content }: Rendered, pages: Pages): RenderSource {
  const { stored, request, reader } = email.variables ?? { stored: {}, request: {} }
  const locale = localeOf(request) ?? localeOf(stored)
  return {
    content,
    createdAt: email.createdAt,
    variables: {
      stored,
      request,
      system: {
        ...systemValues(reader ?? readerOf(email), locale),
        ...(project.postalAddress !== null && { postalAddress: project.postalAddress }),
        ...pages,
      },
    },
    language: locale ?? project.language,
    footer:
      email.contentClass === 'MARKETING' && pages && content.isLiteral !== true
        ? {
            language: matchLanguage(locale) ?? matchLanguage(project.language) ?? 'en',
            projectName: project.name,
            url: pages.unsubscribeUrl,
            postalAddress: project.postalAddress,
          }
        : null,
  }
}

function findPages(deps: Pick<Base, 'config' | 'keyring'>, { email, content }: RenderParts): Pages {
  if (!mayLinkPages(email, content)) return undefined
  const { id: emailId, contactId, digest } = email
  return pageUrls(deps, {
    contactId: isToOther(email) ? undefined : contactId,
    ...{ emailId, digest },
  })
}

/** Whether a workflow sends the email to another address than its contact's. */
function isToOther({
  variables,
  workflowExecutionId,
  recipient,
}: Pick<SourceRow, 'variables' | 'workflowExecutionId' | 'recipient'>): boolean {
  const reader = variables?.reader
  return workflowExecutionId !== null && reader !== undefined && reader.email !== recipient
}

type Reader = NonNullable<Snapshot['reader']>

function readerOf({ contactId, recipient, isSubscribed }: Rendered['email']): Reader {
  return { id: contactId, email: recipient, subscribed: isSubscribed }
}

function systemValues({ id, email, subscribed }: Reader, locale: string | null) {
  return {
    id,
    email,
    pillarbox_id: id,
    pillarbox_email: email,
    svc_id: id,
    svc_email: email,
    locale,
    subscribed,
  }
}

/**
 * Whether the message may contain URLs of the hosted pages; marketing always does. A template refers
 * to them by their variables, or builds the names with brackets, tags, filters or references.
 */
function mayLinkPages(
  { contentClass }: Pick<SourceRow, 'contentClass'>,
  content: MessageContent,
): boolean {
  if (contentClass !== 'TRANSACTIONAL') return true
  const { subject, body, text, isLiteral } = content
  if (isLiteral === true) return false
  return [body, text ?? '', subject].some((part) => PAGE_HINTS.some((hint) => part.includes(hint)))
}

const PAGE_HINTS = ['Url', '[', '{%', '|', '&']

function pageUrls({ config, keyring }: Pick<Base, 'config' | 'keyring'>, page: PageToken) {
  const token = createPageToken(keyring.keys('page')[0], page)
  return {
    unsubscribeUrl: `${config.baseUrl}/unsubscribe/${token}`,
    subscribeUrl: `${config.baseUrl}/subscribe/${token}`,
    manageUrl: `${config.baseUrl}/manage/${token}`,
  }
}

function unsubscribeMailbox(
  { keyring }: Pick<Base, 'keyring'>,
  { id: emailId, digest }: SourceRow,
  domain: string,
) {
  const key = keyring.keys('mail-in-unsubscribe')[0]
  return `${createUnsubscribeLocalPart(key, emailId, digest)}@${domain}`
}

/**
 * Whether mailbox providers can call the one-click URL: they call from outside, and over HTTPS only
 * (RFC 8058).
 */
function isOneClickPossible(baseUrl: string): boolean {
  return baseUrl.startsWith('https:') && !LOOPBACK.test(baseUrl)
}

const LOOPBACK = /^https:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])(:\d+)?(\/|$)/

function localeOf(values: Record<string, unknown>): string | null {
  return typeof values.locale === 'string' ? values.locale : null
}

/**
 * Returns the identifier for Gmail's feedback loop, in its format:
 * `campaign or template:project:kind of mail:sender`.
 */
function feedbackId(email: SourceRow): string {
  const { campaignId, templateId, projectId, sourceType, contentClass } = email
  const kind = contentClass === 'MARKETING' ? 'marketing' : sourceType.toLowerCase()
  return `${campaignId ?? templateId ?? 'direct'}:${projectId}:${kind}:pillarbox`
}

/** The wire form of a stored address; an address in ASCII is stored in that form. */
function wireAddress(address: string): string {
  if (/^[\x21-\x7e]*$/.test(address)) return address
  return parseAddress(address)?.wire ?? address
}
