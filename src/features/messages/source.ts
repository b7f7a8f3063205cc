/**
 * From rows to what a message is made of (`mail/message.ts`): for a delivery, and for every later
 * look at an email, so that both show the same.
 */
import { LRUCache } from 'lru-cache'
import { parseAddress } from '../../mail/address.ts'
import type { MessageContent, MessageSource } from '../../mail/message.ts'
import { createPageToken } from '../../mail/tokens.ts'
import { eq, sql } from '../../store/drizzle.ts'
import { contacts, contents, emails, projects, suppressions } from '../../store/schema.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'

const MAX_REMEMBERED_BYTES = 32 * 1024 * 1024

const selectEmails = statement((db) =>
  db
    .select({
      id: emails.id,
      projectId: emails.projectId,
      contactId: emails.contactId,
      contentId: emails.contentId,
      sourceType: emails.sourceType,
      templateId: emails.templateId,
      campaignId: emails.campaignId,
      recipient: emails.recipient,
      recipientDomain: emails.recipientDomain,
      toName: emails.toName,
      fromAddress: emails.fromAddress,
      fromName: emails.fromName,
      replyTo: emails.replyTo,
      subject: emails.subject,
      contentClass: emails.contentClass,
      headers: emails.headers,
      variables: emails.variables,
      messageId: emails.messageId,
      queueClass: emails.queueClass,
      state: emails.state,
      giveUpAt: emails.giveUpAt,
      failureCount: emails.failureCount,
      createdAt: emails.createdAt,
      isSubscribed: contacts.subscribed,
      isDisabled: projects.isDisabled,
      language: projects.language,
      suppressionId: suppressions.id,
    })
    .from(emails)
    .innerJoin(contacts, eq(contacts.id, emails.contactId))
    .innerJoin(projects, eq(projects.id, emails.projectId))
    .leftJoin(
      suppressions,
      sql`${suppressions.projectId} = ${emails.projectId} and ${suppressions.email} = ${emails.recipient}`,
    )
    .where(sql`${emails.id} in (select value from json_each(${parameter('ids')}))`),
)

const selectContents = statement((db) =>
  db
    .select()
    .from(contents)
    .where(sql`${contents.id} in (select value from json_each(${parameter('ids')}))`),
)

type SelectEmailRow = Awaited<ReturnType<typeof loadEmails>>[number]
export type LoadedEmail = SelectEmailRow

/** The rows of these emails with what decides whether they may still be sent; gone ones are left out. */
export function loadEmails({ store }: Pick<Core, 'store'>, ids: readonly string[]) {
  return store.read.list(selectEmails, { ids: JSON.stringify(ids) })
}

/** Contents by id, remembered up to some megabytes; those that retention cleared are left out. */
export type ContentShelf = {
  load(ids: readonly string[]): Promise<ReadonlyMap<string, MessageContent>>
}

export function createContentShelf({ store }: Pick<Core, 'store'>): ContentShelf {
  const shelf = new LRUCache<string, MessageContent>({
    maxSize: MAX_REMEMBERED_BYTES,
    sizeCalculation: sizeOf,
  })
  return {
    load: async (ids) => {
      const found = new Map<string, MessageContent>()
      const missing = new Set<string>()
      for (const id of ids) {
        const known = shelf.get(id)
        if (known === undefined) missing.add(id)
        else found.set(id, known)
      }
      for (const content of await readContents(store, [...missing])) {
        shelf.set(content.id, content)
        found.set(content.id, content)
      }
      return found
    },
  }
}

async function readContents(store: Core['store'], ids: string[]): Promise<MessageContent[]> {
  if (ids.length === 0) return []
  const rows = await store.read.list(selectContents, { ids: JSON.stringify(ids) })
  return rows.flatMap(({ id, subject, body, isText, attachments }) =>
    body === null ? [] : [{ id, subject, body, isText, attachments: attachments ?? [] }],
  )
}

function sizeOf({ subject, body, attachments }: MessageContent): number {
  const attached = attachments.reduce((sum, each) => sum + each.content.length, 0)
  return 200 + 2 * (subject.length + body.length + attached)
}

/** What the message of this row is made of; pure. */
export function toSource(
  { config, keyring }: Pick<Core, 'config' | 'keyring'>,
  email: LoadedEmail,
  content: MessageContent,
): MessageSource {
  const urls = pageUrls({ config, keyring }, email)
  const { stored, request } = email.variables ?? { stored: {}, request: {} }
  const locale = localeOf(request) ?? localeOf(stored)
  const isMarketing = email.contentClass === 'MARKETING'
  return {
    content,
    messageId: email.messageId,
    createdAt: email.createdAt,
    from: { address: wireAddress(email.fromAddress), name: email.fromName },
    to: { address: wireAddress(email.recipient), name: email.toName },
    replyTo: { address: wireAddress(email.replyTo ?? email.fromAddress), name: null },
    headers: email.headers,
    variables: {
      stored,
      request,
      system: {
        id: email.contactId,
        email: email.recipient,
        pillarbox_id: email.contactId,
        pillarbox_email: email.recipient,
        svc_id: email.contactId,
        svc_email: email.recipient,
        locale,
        subscribed: email.isSubscribed,
        unsubscribeUrl: urls.unsubscribe,
        subscribeUrl: urls.subscribe,
        manageUrl: urls.manage,
      },
    },
    language: locale ?? email.language,
    feedbackId: feedbackId(email),
    isBulk: isMarketing || email.sourceType === 'CAMPAIGN',
    oneClickUrl: isOneClickPossible(config.baseUrl) ? urls.unsubscribe : null,
    isMarketing,
    preferenceUrls: [urls.unsubscribe, urls.manage],
  }
}

function pageUrls({ config, keyring }: Pick<Core, 'config' | 'keyring'>, email: LoadedEmail) {
  const key = keyring.keys('page')[0]
  const token = createPageToken(key, { contactId: email.contactId, emailId: email.id })
  return {
    unsubscribe: `${config.baseUrl}/unsubscribe/${token}`,
    subscribe: `${config.baseUrl}/subscribe/${token}`,
    manage: `${config.baseUrl}/manage/${token}`,
  }
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

/** campaign or template : project : source : sender, as Gmail's feedback loop reads it. */
function feedbackId({ campaignId, templateId, projectId, sourceType }: LoadedEmail): string {
  return `${campaignId ?? templateId ?? 'direct'}:${projectId}:${sourceType.toLowerCase()}:pillarbox`
}

function wireAddress(address: string): string {
  return parseAddress(address)?.wire ?? address
}
