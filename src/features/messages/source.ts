/**
 * From rows to what a message is made of (`mail/message.ts`): for a delivery, and for every later
 * look at an email, so that both show the same.
 */
import { LRUCache } from 'lru-cache'
import { parseAddress } from '../../mail/address.ts'
import type { MessageContent, MessageSource } from '../../mail/message.ts'
import { createPageToken } from '../../mail/tokens.ts'
import { eq, sql } from '../../store/drizzle.ts'
import {
  type Content,
  contacts,
  contents,
  emails,
  projects,
  suppressions,
} from '../../store/schema.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'

const MAX_REMEMBERED_BYTES = 8 * 1024 * 1024
/** Reading that much takes a millisecond or so: others get a turn. */
const LARGE_BYTES = 256 * 1024

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

const selectContent = statement((db) =>
  db
    .select({
      id: contents.id,
      subject: contents.subject,
      body: contents.body,
      isText: contents.isText,
      attachments: contents.attachments,
    })
    .from(contents)
    .where(eq(contents.id, parameter('id'))),
)

const selectText = statement((db) =>
  db
    .select({
      id: contents.id,
      subject: contents.subject,
      body: contents.body,
      isText: contents.isText,
    })
    .from(contents)
    .where(eq(contents.id, parameter('id'))),
)

const selectSizes = statement<{ id: string; bytes: number }>(
  () => sql`select id, coalesce(octet_length(body), 0) + coalesce(octet_length(attachments), 0) as bytes
    from contents where id in (select value from json_each(${parameter('ids')}))`,
)

type SelectEmailRow = Awaited<ReturnType<typeof loadEmails>>[number]
export type LoadedEmail = SelectEmailRow

/** The rows of these emails with what decides whether they may still be sent; gone ones are left out. */
export function loadEmails({ store }: Pick<Core, 'store'>, ids: readonly string[]) {
  return store.read.list(selectEmails, { ids: JSON.stringify(ids) })
}

/** Contents by id, remembered up to some megabytes; those that retention cleared are left out. */
export type ContentShelf = {
  /** All of them are in memory at once; `contentSizes` tells beforehand what that means. */
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
      for (const content of await readContents(store, missing)) {
        shelf.set(content.id, content)
        found.set(content.id, content)
      }
      return found
    },
  }
}

/** Contents by id, without their attachments; those that retention cleared are left out. */
export async function loadTexts(
  { store }: Pick<Core, 'store'>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MessageContent>> {
  const texts = await readEach(new Set(ids), async (id) => {
    const row = await store.read.find(selectText, { id })
    return row && toContent({ ...row, attachments: null })
  })
  return new Map(texts.map((content) => [content.id, content]))
}

/** How much of the database these contents are, in bytes. */
export async function contentSizes(
  { store }: Pick<Core, 'store'>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await store.read.list(selectSizes, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}

function readContents(store: Core['store'], ids: ReadonlySet<string>): Promise<MessageContent[]> {
  return readEach(ids, async (id) => {
    const row = await store.read.find(selectContent, { id })
    return row && toContent(row)
  })
}

/** One by one, so that large ones do not keep everybody else waiting. */
async function readEach(
  ids: ReadonlySet<string>,
  read: (id: string) => Promise<MessageContent | undefined>,
): Promise<MessageContent[]> {
  const found: MessageContent[] = []
  for (const id of ids) {
    const content = await read(id)
    if (content === undefined) continue
    found.push(content)
    if (sizeOf(content) > LARGE_BYTES) await new Promise((resolve) => setImmediate(resolve))
  }
  return found
}

type ContentRow = Pick<Content, 'id' | 'subject' | 'body' | 'isText' | 'attachments'>

function toContent({ body, attachments, ...row }: ContentRow): MessageContent | undefined {
  return body === null ? undefined : { ...row, body, attachments: attachments ?? [] }
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
