/**
 * Mail that happens in a database, row by row as the server writes it, and a ledger of it that knows
 * nothing of events: `expected` counts what became of each email.
 */
import { appendEvents } from '../../../../../src/features/ground/events/append.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { attempts, emails } from '../../../../../src/store/schema/messages.ts'
import type { SourceType } from '../../../../../src/store/schema/words.ts'
import { SHELF } from '../../../../../src/store/shelves.ts'
import type { Reader, Store } from '../../../../../src/store/store.ts'
import type { Tx } from '../../../../../src/store/write/transaction.ts'
import { setEmails } from '../../../../set-emails.ts'

const SPANS = [900_000, 86_400_000]
const MAIL = [
  ...['sent', 'delivered', 'opened', 'clicked', 'opened_and_clicked', 'hard_bounced'],
  ...['soft_bounced', 'complained', 'unsubscribed'],
]

export type Mailing = {
  projectId: string
  /** The recipient's domain. */
  domain?: string
  source?: SourceType
  campaignId?: string | null
  templateId?: string | null
  /** A contact of an earlier email. */
  contactId?: string
  isTest?: boolean
  isPlatform?: boolean
  at: number
}
type Sent = Required<Omit<Mailing, 'contactId'>> & {
  id: string
  contactId: string
  provider: string | undefined
  isTried: boolean
  isSent: boolean
  isDelivered: boolean
  openedAt?: number
  clickedAt?: number
  bounce?: 'Permanent' | 'Undetermined' | undefined
  isComplained: boolean
  isUnsubscribed: boolean
  clicks: { url: string; isFirst: boolean }[]
}
type Counted = { projectId: string; at: number; stream: string; name: string }
/** A row of counts, without zeros. */
export type Row = Record<string, string | number>

export function createLedger(store: Pick<Store, 'write'>) {
  const sent = new Map<string, Sent>()
  const happened: Counted[] = []

  const get = (id: string): Sent => {
    const email = sent.get(id)
    if (email === undefined) throw new TypeError(`No email ${id}.`)
    return email
  }

  async function event(
    tx: Tx,
    name: string,
    { id, at, data = null }: { id: string; at: number; data?: Record<string, unknown> | null },
  ): Promise<void> {
    const { projectId, contactId, isTest, isPlatform, source } = get(id)
    await appendEvents(tx, [{ projectId, contactId, emailId: id, name, data, at }])
    const stream = source === 'INBOUND' ? '' : source
    if (!isTest && !isPlatform) happened.push({ projectId, at, stream, name })
  }

  const write = (id: string, values: Partial<typeof emails.$inferInsert>) => (tx: Tx) =>
    setEmails(tx, values, eq(emails.id, id))

  async function send(mailing: Mailing): Promise<string> {
    const id = newId()
    const contactId = mailing.contactId ?? newId()
    const { domain = 'gmail.com', source = 'TRANSACTIONAL', at, projectId } = mailing
    const email: Sent = {
      ...{ campaignId: null, templateId: null, isTest: false, isPlatform: false },
      ...mailing,
      ...{ id, contactId, domain, source, provider: domain === 'gmail.com' ? 'Gmail' : undefined },
      ...{
        isTried: false,
        isSent: false,
        isDelivered: false,
        isComplained: false,
        isUnsubscribed: false,
      },
      clicks: [],
    }
    await store.write(async (tx) => {
      const address = `${contactId}@${domain}`
      const times = { createdAt: at, updatedAt: at }
      if (mailing.contactId === undefined) {
        const contact = { id: contactId, projectId, address, subscribed: true, ...times }
        await tx.insert(contacts).values(contact)
      }
      await tx.insert(emails).values({
        ...{ id, projectId, contactId, contentId: 'content', sourceType: source, ...times },
        ...{ campaignId: email.campaignId, templateId: email.templateId },
        ...{ isTest: email.isTest, isPlatform: email.isPlatform },
        ...{ recipient: address, recipientDomain: domain, fromAddress: 'news@shop.test' },
        ...{ subject: 'News', contentClass: 'MARKETING', isTracked: true, messageId: id },
        ...{ state: 'queued', status: 'PENDING', queueClass: 10, giveUpAt: at },
        shelf: email.campaignId === null ? null : SHELF.queued,
      })
    })
    sent.set(id, email)
    return id
  }

  async function tried(tx: Tx, id: string, attempt: { result: string; host: string; at: number }) {
    const email = get(id)
    email.isTried = true
    // The first server that an email is offered to decides, unless its domain did; a smarthost says nothing.
    email.provider ??= attempt.result === 'relayed' ? 'Other' : providerOf(attempt.host)
    await tx.insert(attempts).values({ ...{ emailId: id, durationMs: 1, steps: [] }, ...attempt })
  }

  return {
    send,
    emails: () => [...sent.values()],
    async deliver(id: string, at: number, host = 'mx.dest.test') {
      const email = get(id)
      await store.write(async (tx) => {
        await tried(tx, id, { result: 'delivered', host, at })
        await write(id, { state: 'delivered', sentAt: at, deliveredAt: at })(tx)
        await event(tx, 'email.sent', { id, at })
        await event(tx, 'email.delivery', { id, at })
      })
      Object.assign(email, { isSent: true, isDelivered: true })
    },
    async relay(id: string, at: number, host: string) {
      await store.write(async (tx) => {
        await tried(tx, id, { result: 'relayed', host, at })
        await write(id, { state: 'relayed', sentAt: at })(tx)
        await event(tx, 'email.sent', { id, at })
      })
      get(id).isSent = true
    },
    /** In the session, before it is sent, or later. */
    async bounce(
      id: string,
      at: number,
      { type = 'Permanent', host = 'mx.dest.test' }: { type?: Sent['bounce']; host?: string } = {},
    ) {
      const email = get(id)
      await store.write(async (tx) => {
        await tried(tx, id, { result: 'bounced', host, at })
        await write(id, { state: 'bounced', bouncedAt: at })(tx)
        await event(tx, 'email.bounce', { id, at, data: { bounceType: type } })
      })
      Object.assign(email, { isSent: true, isDelivered: false, bounce: type })
    },
    /** A delay. */
    async defer(id: string, at: number, host = 'alt1.aspmx.l.google.com') {
      await store.write(async (tx) => {
        await tried(tx, id, { result: 'deferred', host, at })
        const data = { bounceType: 'Transient', transientBounce: true }
        await event(tx, 'email.bounce', { id, at, data })
      })
    },
    async fail(id: string, at: number) {
      await store.write((tx) => event(tx, 'email.failed', { id, at, data: { error: 'x' } }))
    },
    async receive(id: string, at: number) {
      await store.write((tx) => event(tx, 'email.received', { id, at }))
    },
    async open(id: string, at: number) {
      const email = get(id)
      const isFirst = email.openedAt === undefined
      email.openedAt ??= at
      await store.write(async (tx) => {
        await write(id, { openedAt: email.openedAt })(tx)
        await event(tx, 'email.open', { id, at, data: { isFirstOpen: isFirst } })
      })
    },
    async click(id: string, at: number, url: string) {
      const email = get(id)
      const isFirst = email.clickedAt === undefined
      email.clickedAt ??= at
      await store.write(async (tx) => {
        await write(id, { clickedAt: email.clickedAt })(tx)
        await event(tx, 'email.click', { id, at, data: { link: url, isFirstClick: isFirst } })
      })
      email.clicks.push({ url, isFirst })
    },
    async complain(id: string, at: number) {
      await store.write((tx) => event(tx, 'email.complaint', { id, at }))
      get(id).isComplained = true
    },
    async unsubscribe(id: string, at: number, reason = 'page') {
      await store.write((tx) => event(tx, 'contact.unsubscribed', { id, at, data: { reason } }))
      if (reason !== 'bounce' && reason !== 'complaint') get(id).isUnsubscribed = true
    },
    /** A client's event. */
    async track(projectId: string, name: string, at: number) {
      await store.write((tx) =>
        appendEvents(tx, [{ projectId, contactId: null, emailId: null, name, data: null, at }]),
      )
      happened.push({ projectId, at, stream: '', name })
    },
    async deleteContact(id: string) {
      const { contactId } = get(id)
      await store.write((tx) => tx.delete(contacts).where(eq(contacts.id, contactId)))
    },
    async deleteEvents(name: string) {
      await store.write((tx) => tx.run(sql`delete from events where name = ${name}`))
    },
    expected: (): Row[] => recount([...sent.values()], happened),
  }
}

function recount(sent: readonly Sent[], happened: readonly Counted[]): Row[] {
  const rows = new Map<string, Row>()
  const add = (place: Row, counts: Record<string, number>) => {
    for (const span of SPANS) {
      const at = Number(place.startsAt)
      const row: Row = { ...place, span, startsAt: at - (at % span) }
      const key = JSON.stringify(row)
      const sum = rows.get(key) ?? row
      for (const [name, count] of Object.entries(counts)) {
        sum[name] = Number(sum[name] ?? 0) + count
      }
      rows.set(key, sum)
    }
  }
  for (const email of sent) countEmail(add, email)
  for (const { projectId, at, stream, name } of happened) {
    add({ table: 'events', projectId, kind: 'event', startsAt: at, stream, name }, { events: 1 })
  }
  return inOrder([...rows.values()])
}

function providerOf(host: string): string {
  if (host.endsWith('.google.com')) return 'Google Workspace'
  return host.endsWith('.mail.protection.outlook.com') ? 'Microsoft 365' : 'Other'
}

function countEmail(add: (place: Row, counts: Record<string, number>) => void, email: Sent): void {
  const { projectId, source: stream, at: startsAt, provider, campaignId, templateId } = email
  if (email.isTest || email.isPlatform || stream === 'INBOUND') return
  const [opened, clicked] = [email.openedAt !== undefined, email.clickedAt !== undefined]
  const facts = {
    sent: email.isSent,
    delivered: email.isDelivered,
    opened,
    clicked,
    opened_and_clicked: opened && clicked,
    hard_bounced: email.bounce === 'Permanent',
    soft_bounced: email.bounce === 'Undetermined',
    complained: email.isComplained,
    unsubscribed: email.isUnsubscribed,
  }
  const counts = Object.fromEntries(Object.entries(facts).map(([name, is]) => [name, is ? 1 : 0]))
  const about = {
    all: '',
    provider: provider ?? 'Other',
    campaign: campaignId,
    template: templateId,
  }
  for (const [kind, name] of Object.entries(about)) {
    if (name !== null) add({ table: 'mail', projectId, kind, startsAt, stream, name }, counts)
  }
  for (const { url, isFirst } of email.clicks) {
    const place = { table: 'links', projectId, kind: 'url', startsAt, stream, name: url }
    add(place, { clicks: 1, first_clicks: isFirst ? 1 : 0 })
  }
}

/** The stored counts, in the shape of `expected`. */
export async function readCounts(reader: Reader): Promise<Row[]> {
  const place = (table: string, kind: string) =>
    `'${table}' as "table", counts.project_id as "projectId", ${kind} as kind, span,
      starts_at as "startsAt", stream, coalesce(subjects.name, '') as name`
  const rest = `left join analytics_subjects as subjects
    on subjects.id = counts.subject and subjects.project_id = counts.project_id`
  const mail = `select ${place('mail', 'counts.kind')}, ${MAIL.join(', ')} from mail_counts as counts ${rest}`
  const links = `select ${place('links', 'subjects.kind')}, clicks, first_clicks
    from link_counts as counts ${rest}`
  const events = `select ${place('events', 'subjects.kind')}, events from event_counts as counts ${rest}`
  const lists = await Promise.all(
    [mail, links, events].map((text) => reader.all<Row>(sql.raw(text))),
  )
  return inOrder(lists.flat())
}

function inOrder(rows: readonly Row[]): Row[] {
  const texts = rows.flatMap((row) => {
    const { span, startsAt } = row
    const counts = Object.entries(row).filter(([name, value]) => isCount(name) && value !== 0)
    if (counts.length === 0) return []
    const places = ['table', 'projectId', 'kind', 'stream', 'name'].map((key) => [key, row[key]])
    return [Object.fromEntries([...places, ['span', span], ['startsAt', startsAt], ...counts])]
  })
  return texts.map((row) => row as Row).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

const isCount = (name: string) =>
  MAIL.includes(name) || ['clicks', 'first_clicks', 'events'].includes(name)

function keyOf({ table, projectId, kind, span, startsAt, stream, name }: Row): string {
  return JSON.stringify([table, projectId, kind, span, startsAt, stream, name])
}
