/**
 * From rows to what a message is made of (`mail/compose/build-message.ts`): for a delivery, and for every later
 * look at an email, so that both show the same.
 */
import { parseAddress } from '../../../mail/address/address.ts'
import type { MessageSource, RenderSource } from '../../../mail/compose/build-message.ts'
import type { MessageContent } from '../../../mail/compose/message-content.ts'
import { removeSmarthostHeaders } from '../../../mail/compose/smarthost-header.ts'
import { matchLanguage } from '../../../mail/languages.ts'
import { createPageToken, createUnsubscribeLocalPart } from '../../../mail/signed-tokens.ts'
import type { RowOf } from '../../../store/database.ts'
import { listOf } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { type Project, projects } from '../../../store/schema/accounts.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { contents, type Email, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'

/** Reading that much takes a millisecond or so: others get a turn. */
const LARGE_CHARACTERS = 128 * 1024

/** What a message takes from its email's row. */
export const sourceColumns = {
  id: emails.id,
  projectId: emails.projectId,
  contactId: emails.contactId,
  contentId: emails.contentId,
  sourceType: emails.sourceType,
  templateId: emails.templateId,
  campaignId: emails.campaignId,
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
      isSubscribed: contacts.subscribed,
      language: projects.language,
      projectName: projects.name,
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
    })
    .from(contents)
    .where(eq(contents.id, parameter('id'))),
)

export type LoadedEmail = RowOf<typeof selectEmails>

/** With the contact's wish as it is now; what is the project's comes beside it. */
export type SourceRow = Pick<Email, keyof typeof sourceColumns> & { isSubscribed: boolean }

/** The rows of these emails for a later look; gone ones are left out. */
export function loadEmails({ store }: Pick<Base, 'store'>, ids: readonly string[]) {
  return store.read.list(selectEmails, { ids: JSON.stringify(ids) })
}

/**
 * Contents by id, without their attachments; those that retention cleared are left out. One by one,
 * so that large ones do not keep everybody else waiting.
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

type Parts = {
  email: SourceRow
  project: Pick<Project, 'name' | 'language'>
  content: MessageContent
}

type Pages = ReturnType<typeof pageUrls> | undefined

/** What the text of this row's message is made of, for a look at it. */
export function toRenderSource(deps: Pick<Base, 'config' | 'keyring'>, parts: Parts): RenderSource {
  return renderSource(parts, findPages(deps, parts))
}

/** What the message of this row is made of; pure. `returnPath`: where it comes back to. */
export function toSource(
  deps: Pick<Base, 'config' | 'keyring'>,
  { returnPath, ...parts }: Parts & { returnPath: { token: string; domain: string } },
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
    headers: headersFor(deps, email),
    feedbackId: feedbackId(email),
    returnToken: returnPath.token,
    isBulk: isMarketing || email.sourceType === 'CAMPAIGN',
    isTracked: email.isTracked,
    oneClickUrl: pages && isOneClickPossible(deps.config.baseUrl) ? pages.unsubscribeUrl : null,
    unsubscribeMailbox:
      pages && isInbound ? unsubscribeMailbox(deps, email, returnPath.domain) : null,
    isMarketing,
    preferenceUrls: pages ? [pages.unsubscribeUrl, pages.manageUrl] : [],
  }
}

/** In whichever way they came in: whoever sends for us is steered by its operator alone. */
function headersFor({ config }: Pick<Base, 'config'>, { headers }: SourceRow) {
  if (headers === null || config.delivery.mode !== 'relay') return headers
  return removeSmarthostHeaders(headers)
}

function renderSource({ email, project, content }: Parts, pages: Pages): RenderSource {
  const { stored, request } = email.variables ?? { stored: {}, request: {} }
  const locale = localeOf(request) ?? localeOf(stored)
  return {
    content,
    createdAt: email.createdAt,
    variables: { stored, request, system: { ...systemValues(email, locale), ...pages } },
    language: locale ?? project.language,
    footer:
      email.contentClass === 'MARKETING' && pages
        ? {
            language: matchLanguage(locale) ?? matchLanguage(project.language) ?? 'en',
            projectName: project.name,
            url: pages.unsubscribeUrl,
          }
        : null,
  }
}

function findPages(deps: Pick<Base, 'config' | 'keyring'>, { email, content }: Parts): Pages {
  return mayLinkPages(email, content) ? pageUrls(deps, email) : undefined
}

function systemValues({ contactId, recipient, isSubscribed }: SourceRow, locale: string | null) {
  return {
    id: contactId,
    email: recipient,
    pillarbox_id: contactId,
    pillarbox_email: recipient,
    svc_id: contactId,
    svc_email: recipient,
    locale,
    subscribed: isSubscribed,
  }
}

/**
 * Whether the addresses of the hosted pages may be asked for; marketing offers them by itself. A
 * template names their variables, or makes up names, which takes brackets, tags, filters or
 * character references.
 */
function mayLinkPages({ contentClass }: SourceRow, content: MessageContent): boolean {
  if (contentClass !== 'TRANSACTIONAL') return true
  const { subject, body, text } = content
  return [body, text ?? '', subject].some((part) => pageHints.some((hint) => part.includes(hint)))
}

const pageHints = ['Url', '[', '{%', '|', '&']

function pageUrls(
  { config, keyring }: Pick<Base, 'config' | 'keyring'>,
  { id, contactId }: SourceRow,
) {
  const token = createPageToken(keyring.keys('page')[0], { contactId, emailId: id })
  return {
    unsubscribeUrl: `${config.baseUrl}/unsubscribe/${token}`,
    subscribeUrl: `${config.baseUrl}/subscribe/${token}`,
    manageUrl: `${config.baseUrl}/manage/${token}`,
  }
}

function unsubscribeMailbox({ keyring }: Pick<Base, 'keyring'>, { id }: SourceRow, domain: string) {
  return `${createUnsubscribeLocalPart(keyring.keys('mail-in-unsubscribe')[0], id)}@${domain}`
}

/** Mailbox providers call the address from outside, and by HTTPS only (RFC 8058). */
export function isOneClickPossible(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl)
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  return protocol === 'https:' && !isLoopback
}

function localeOf(values: Record<string, unknown>): string | null {
  return typeof values.locale === 'string' ? values.locale : null
}

/** campaign or template : project : kind of mail : sender, as Gmail's feedback loop reads it. */
function feedbackId(email: SourceRow): string {
  const { campaignId, templateId, projectId, sourceType, contentClass } = email
  const kind = contentClass === 'MARKETING' ? 'marketing' : sourceType.toLowerCase()
  return `${campaignId ?? templateId ?? 'direct'}:${projectId}:${kind}:pillarbox`
}

/** Of a stored address: in ASCII it is as on the wire. */
export function wireAddress(address: string): string {
  if (/^[\x21-\x7e]*$/.test(address)) return address
  return parseAddress(address)?.wire ?? address
}
