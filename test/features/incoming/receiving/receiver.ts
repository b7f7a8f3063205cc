/** A project with delivered mail and a running process for received messages. */
import { after, before, type TestContext } from 'node:test'
import { silentLog } from '../../../../src/base/log.ts'
import { acceptInboundMessage } from '../../../../src/features/incoming/receiving/accept/accept-message.ts'
import type { MessageReader } from '../../../../src/features/incoming/receiving/process/parsed-message.ts'
import {
  type Processing,
  startProcessing,
} from '../../../../src/features/incoming/receiving/process/process.ts'
import {
  createReturnPathLocalPart,
  createUnsubscribeLocalPart,
} from '../../../../src/formats/signed-tokens.ts'
import { createMessageReading } from '../../../../src/inbound/read-received.ts'
import { asc, desc, eq } from '../../../../src/store/drizzle.ts'
import { type Contact, contacts } from '../../../../src/store/schema/contacts.ts'
import { type EventRow, events } from '../../../../src/store/schema/events.ts'
import { type InboundMessage, inboundMessages } from '../../../../src/store/schema/inbound.ts'
import type { InboundRecipient } from '../../../../src/store/schema/json-values.ts'
import { type Email, emails } from '../../../../src/store/schema/messages.ts'
import { type Suppression, suppressions } from '../../../../src/store/schema/suppressions.ts'
import { type FakeDns, startDnsServer } from '../../../fakes/dns-server.ts'
import { setEmails } from '../../../set-emails.ts'
import { openSender, type Sender } from '../../mail/messages/sender.ts'

type MessageToReceive = {
  to: InboundRecipient[]
  raw: string | Buffer
  /** `''` is the null reverse path. */
  from?: string
  clientAddress?: string
}

export type Receiver = Sender & {
  reader: MessageReader
  processing: Processing
  /** The texts of the log's lines. */
  logged: string[]
  /** The fields of the log's lines. */
  facts: object[]
  /** Makes a delivered email to ada@dest.test and returns its id. */
  deliver(change?: Partial<Email>): Promise<string>
  returnPath(emailId: string): InboundRecipient & { address: string }
  unsubscribeAddress(emailId: string): InboundRecipient & { address: string }
  mailbox(address?: string, projectId?: string): InboundRecipient
  /** Returns the row once it is processed. */
  receive(message: MessageToReceive): Promise<InboundMessage>
  subscribe(): Promise<void>
  contact(email: string): Promise<Contact | undefined>
  listEvents(): Promise<Pick<EventRow, 'name' | 'emailId' | 'data'>[]>
  list(): Promise<Suppression[]>
  /** The newest email. */
  latestEmail(): Promise<Email>
}

type Options = { reader?: MessageReader }

export async function openReceiver(t: TestContext, options: Options = {}): Promise<Receiver> {
  const sender = await openSender(t)
  const { store, keyring } = sender.core
  const logged: string[] = []
  const facts: object[] = []
  const write = (fields: object, text: string) => {
    facts.push(fields)
    logged.push(text)
  }
  const log = Object.assign(Object.create(silentLog()), { info: write, warn: write, error: write })
  const core = { ...sender.core, log }
  const reader = options.reader ?? readerIn('127.0.0.1:9')
  const processing = await startProcessing(core, reader)
  t.after(() => processing.stop())

  const receive = async ({ to, raw, from = '', clientAddress = '192.0.2.7' }: MessageToReceive) => {
    const id = await acceptInboundMessage(core, {
      reversePath: from,
      recipients: to,
      clientAddress,
      clientName: 'mx.dest.test',
      protocol: 'ESMTP',
      tls: null,
      content: [Buffer.from(raw)],
    })
    await processing.idle()
    const row = await store.read
      .select()
      .from(inboundMessages)
      .where(eq(inboundMessages.id, id))
      .get()
    if (row === undefined) throw new Error(`no row ${id}`)
    return row
  }

  return {
    ...sender,
    core,
    reader,
    processing,
    logged,
    facts,
    receive,
    deliver: async (change = {}) => {
      const id = (await sender.send()).emails[0]?.email ?? ''
      const at = sender.clock.now
      const done = { state: 'delivered', status: 'DELIVERED', dueAt: null } as const
      const row = { ...done, sentAt: at, deliveredAt: at, ...change }
      await store.write((tx) => setEmails(tx, row, eq(emails.id, id)))
      return id
    },
    returnPath: (emailId) => {
      const local = createReturnPathLocalPart(keyring.keys('return-path')[0], emailId)
      return { for: 'return-path', address: `${local}@bounce.example.test`, emailId }
    },
    unsubscribeAddress: (emailId) => {
      const local = createUnsubscribeLocalPart(keyring.keys('mail-in-unsubscribe')[0], emailId)
      return { for: 'unsubscribe', address: `${local}@bounce.example.test`, emailId }
    },
    mailbox: (address = 'help@example.test', projectId = sender.project.id) => ({
      ...{ for: 'mailbox', address, projectId },
    }),
    subscribe: async () => {
      await store.write((tx) => tx.update(contacts).set({ subscribed: true }).run())
    },
    contact: (email) => store.read.select().from(contacts).where(eq(contacts.address, email)).get(),
    listEvents: async () => {
      const rows = await store.read.select().from(events).orderBy(asc(events.seq)).all()
      return rows.map(({ name, emailId, data }) => ({ name, emailId, data }))
    },
    list: () => store.read.select().from(suppressions).all(),
    latestEmail: async () => {
      const row = await store.read.select().from(emails).orderBy(desc(emails.id)).limit(1).get()
      if (row === undefined) throw new Error('no email')
      return row
    },
  }
}

/** Reads as a reader thread does, in this one; results are copied, as they are between threads. */
function readerIn(dnsServer: string): MessageReader {
  const read = createMessageReading({ dnsServers: [dnsServer], hostname: 'mx.example.test' })
  return { read: async (message) => structuredClone(await read(message)) }
}

/** One reader for a test file, and the DNS server that it asks. */
export function shareReader(): { reader: MessageReader; dns(): FakeDns } {
  let shared: MessageReader | undefined
  let dns: FakeDns | undefined
  before(async () => {
    dns = await startDnsServer()
    shared = readerIn(dns.address)
  })
  after(() => dns?.stop())
  return {
    reader: { read: (...args) => (shared as MessageReader).read(...args) },
    dns: () => dns as FakeDns,
  }
}

type Dsn = {
  recipient?: string
  originalRecipient?: string
  action?: string
  status?: string
  diagnostic?: string
  prose?: string
  /** Fields of the returned message. */
  returned?: string[]
}

/** An RFC 3464 report. */
export function buildDsn(report: Dsn = {}): string {
  const { recipient = 'ada@dest.test', action = 'failed', status = '5.1.1' } = report
  const { diagnostic = `550 ${status} <${recipient}>: user unknown`, returned = [] } = report
  const { prose = 'The mail system could not deliver your message.' } = report
  const original = report.originalRecipient
  return [
    'From: MAILER-DAEMON@mx.dest.test (Mail Delivery System)',
    'Subject: Undelivered Mail Returned to Sender',
    'Auto-Submitted: auto-replied',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=delivery-status; boundary="b"',
    '',
    ...['--b', '', prose, ''],
    ...['--b', 'Content-Type: message/delivery-status', ''],
    ...['Reporting-MTA: dns; mx.dest.test', ''],
    `Final-Recipient: rfc822; ${recipient}`,
    ...(original === undefined ? [] : [`Original-Recipient: rfc822; ${original}`]),
    `Action: ${action}`,
    `Status: ${status}`,
    `Diagnostic-Code: smtp; ${diagnostic}`,
    '',
    ...['--b', 'Content-Type: message/rfc822', ''],
    ...returned,
    ...['Subject: Hello', 'From: shop@example.test', 'To: ada@dest.test', '', 'Hello', '--b--', ''],
  ].join('\r\n')
}

/** An RFC 5965 complaint. */
export function buildArf(returned: string[] = []): string {
  return [
    'From: fbl@dest.test',
    'Subject: FW: Hello',
    'MIME-Version: 1.0',
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    '',
    ...['--b', 'Content-Type: text/plain', '', 'This is an abuse report.', ''],
    ...['--b', 'Content-Type: message/feedback-report', ''],
    ...['Feedback-Type: abuse', 'User-Agent: Test/1.0', 'Version: 1', ''],
    ...['--b', 'Content-Type: message/rfc822', ''],
    ...returned,
    ...[
      'Subject: Hello',
      'From: shop@example.test',
      'To: redacted@dest.test',
      '',
      'x',
      '--b--',
      '',
    ],
  ].join('\r\n')
}

/** Builds a message with these fields and this text. */
export function buildMessage(fields: Record<string, string>, text = 'Hello'): string {
  const all = { From: 'Bob <bob@people.test>', Subject: 'Question', ...fields }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [...lines, '', text, ''].join('\r\n')
}
