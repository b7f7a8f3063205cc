import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, HOUR_MS } from '../../../../src/base/clock.ts'
import { deleteExpiredChunks } from '../../../../src/features/ground/chunks.ts'
import { acceptInboundMessage } from '../../../../src/features/incoming/receiving/accept/accept-message.ts'
import {
  deleteExpiredInboundMessages,
  deleteInboundMessages,
  loadInboundMessage,
} from '../../../../src/features/incoming/receiving/inbound-messages.ts'
import { MailboxFull } from '../../../../src/features/incoming/receiving/limits.ts'
import type { MessageReader } from '../../../../src/features/incoming/receiving/process/parsed-message.ts'
import { findRaw } from '../../../../src/features/incoming/receiving/process/pending.ts'
import { readRaw } from '../../../../src/features/incoming/receiving/raw.ts'
import { readIncomingHeader } from '../../../../src/formats/incoming/header.ts'
import { readReport } from '../../../../src/formats/report/read-report.ts'
import { asc, eq, sql } from '../../../../src/store/drizzle.ts'
import { inboundMessages, inboundUsage } from '../../../../src/store/schema/inbound.ts'
import type { InboundRecipient } from '../../../../src/store/schema/json-values.ts'
import { chunks } from '../../../../src/store/schema/messages.ts'
import type { Store } from '../../../../src/store/store.ts'
import { countTurns } from '../../../event-loop.ts'
import { openReceiver, type Receiver, shareReader } from './receiver.ts'

const shared = shareReader()
const MIB = 1024 * 1024
const line = `${'0123456789'.repeat(7)}\r\n`
const large = `From: ada@dest.test\r\nSubject: large\r\n\r\n${line.repeat(29_500)}`
const buildDsn = (body: string) =>
  `Content-Type: multipart/report; boundary=b\r\n\r\n--b\r\n${body}--b--\r\n`

/** Reads the fields alone, where the text of the mail does not matter. */
const reader: MessageReader = {
  read: async ({ raw }) => {
    const start = Buffer.from(raw).subarray(0, 1_000)
    const [header, report] = [readIncomingHeader(start), readReport(start)]
    return { report, header, automatic: null, mail: null, kept: null, durationMs: 1 }
  },
}

const messageTo = (recipient: InboundRecipient) => ({
  ...{ reversePath: '', clientAddress: '192.0.2.1', clientName: 'x', protocol: 'SMTP', tls: null },
  ...{ recipients: [recipient], content: [Buffer.from(large)] },
})

const countChunks = ({ core }: Receiver) => core.store.read.$count(chunks)

/** Two hours later: what nothing names is old by then. */
const sweepLater = ({ core }: Pick<Receiver, 'core'>) =>
  deleteExpiredChunks({ ...core, now: () => Date.now() + 2 * HOUR_MS })

test('large mail is stored in chunks, and read and shown unchanged', async (t) => {
  const receiver = await openReceiver(t, shared)
  const row = await receiver.receive({ to: [receiver.mailbox()], raw: large })
  assert.equal(row.state, 'processed')
  assert.equal(row.subject, 'large')
  assert.equal(row.raw?.length, 0)
  assert.equal(row.rawChunks, Math.ceil(row.sizeBytes / MIB))
  assert.equal(await countChunks(receiver), row.rawChunks)
  const { raw } = await loadInboundMessage(receiver.core, row.id)
  assert.match(String(raw?.subarray(0, 10)), /^Received: /)
  assert.equal(raw?.length, row.sizeBytes)
  assert.ok(raw?.subarray(-large.length).equals(Buffer.from(large)))
  const [usage] = await receiver.core.store.read.select().from(inboundUsage)
  assert.equal(usage?.bytes, row.sizeBytes)
})

test('small mail is stored in its row', async (t) => {
  const receiver = await openReceiver(t, shared)
  const row = await receiver.receive({ to: [receiver.mailbox()], raw: large.slice(0, MIB / 4) })
  assert.equal(row.rawChunks, 0)
  assert.equal(row.raw?.length, row.sizeBytes)
  assert.equal(await countChunks(receiver), 0)
})

test('other work runs between the chunks of large mail, in writes and reads', async (t) => {
  const { core, mailbox } = await openReceiver(t, { reader })
  const seen = new Set<number>()
  const recordCount = async () => seen.add(await core.store.read.$count(chunks))
  const { result: id } = await countTurns(
    acceptInboundMessage(core, messageTo(mailbox())),
    recordCount,
  )
  assert.ok(seen.has(1) && seen.has(2), 'one chunk at a time')
  const row = await core.store.read
    .select()
    .from(inboundMessages)
    .where(eq(inboundMessages.id, id))
    .get()
  assert.ok(row !== undefined)
  const { turns } = await countTurns(readRaw(core.store, row))
  assert.ok(turns >= row.rawChunks, `${turns} turns`)
})

test('the parts of a message are joined to full chunks', async (t) => {
  const receiver = await openReceiver(t, { reader })
  const octets = Buffer.from(large)
  const content = Array.from({ length: Math.ceil(octets.length / 7_000) }, (_, index) =>
    octets.subarray(index * 7_000, (index + 1) * 7_000),
  )
  const id = await acceptInboundMessage(receiver.core, {
    ...messageTo(receiver.mailbox()),
    content,
  })
  const kept = await receiver.core.store.read
    .select({ bytes: chunks.bytes })
    .from(chunks)
    .orderBy(asc(chunks.number))
  assert.deepEqual(kept.map(({ bytes }) => bytes.length).slice(0, -1), [MIB, MIB])
  const { raw } = await loadInboundMessage(receiver.core, id)
  assert.ok(raw?.subarray(-octets.length).equals(octets))
})

test('mail whose chunks were deleted before its row was written is not acknowledged', async (t) => {
  const { core, mailbox } = await openReceiver(t, { reader })
  // The clock is set forward while the last chunk is written.
  const write: Store['write'] = async (fn, options) => {
    if (options?.heavyFor === undefined) await sweepLater({ core })
    return core.store.write(fn, options)
  }
  const deps = { ...core, store: { ...core.store, write } }
  await assert.rejects(acceptInboundMessage(deps, messageTo(mailbox())), { code: 'DATABASE_ERROR' })
  assert.equal(await core.store.read.$count(inboundMessages), 0)
})

test('a large report leaves no chunks after it was read', async (t) => {
  const receiver = await openReceiver(t, shared)
  const to = [receiver.returnPath(await receiver.deliver())]
  const row = await receiver.receive({ to, raw: buildDsn(line.repeat(15_000)) })
  assert.equal(row.state, 'processed')
  assert.equal(row.raw, null)
  assert.ok(row.rawChunks > 0)
  await receiver.processing.stop()
  assert.equal(await countChunks(receiver), 0)
})

test('refused mail leaves no chunks, and a full mailbox writes none', async (t) => {
  const receiver = await openReceiver(t, { reader })
  const { store, config } = receiver.core
  await store.write((tx) =>
    tx.run(sql`create trigger broken before insert on inbound_messages
      begin select raise(abort, 'no'); end`),
  )
  await assert.rejects(receiver.receive({ to: [receiver.mailbox()], raw: large }))
  assert.equal(await countChunks(receiver), 0)
  await store.write((tx) =>
    tx.run(sql`create trigger never before insert on chunks
      begin select raise(abort, 'a chunk was written'); end`),
  )
  receiver.core.config = { ...config, inbound: { ...config.inbound, maxBytesPerProject: MIB } }
  await assert.rejects(receiver.receive({ to: [receiver.mailbox()], raw: large }), MailboxFull)
})

test('chunks are deleted at once when one of them cannot be written', async (t) => {
  const receiver = await openReceiver(t, { reader })
  await receiver.core.store.write((tx) =>
    tx.run(sql`create trigger full before insert on chunks when new.number = 2
      begin select raise(abort, 'no'); end`),
  )
  await assert.rejects(receiver.receive({ to: [receiver.mailbox()], raw: large }))
  assert.equal(await countChunks(receiver), 0)
  assert.equal(await receiver.core.store.read.$count(inboundMessages), 0)
})

test('the job for chunks keeps those of stored mail and deletes those without an owner', async (t) => {
  const receiver = await openReceiver(t, { reader })
  const [kept, gone] = [
    await receiver.receive({ to: [receiver.mailbox()], raw: large }),
    await receiver.receive({ to: [receiver.mailbox()], raw: large }),
  ]
  await receiver.core.store.write((tx) =>
    tx.delete(inboundMessages).where(eq(inboundMessages.id, gone.id)),
  )
  await deleteExpiredChunks({ ...receiver.core, now: () => Date.now() + HOUR_MS / 2 })
  assert.equal(await countChunks(receiver), 2 * kept.rawChunks)
  await sweepLater(receiver)
  assert.equal(await countChunks(receiver), kept.rawChunks)
})

test('chunks are deleted with their message: by an operator at once, by retention in the next run', async (t) => {
  const receiver = await openReceiver(t, { reader })
  const first = await receiver.receive({ to: [receiver.mailbox()], raw: large })
  await deleteInboundMessages(receiver.core, [first.id])
  assert.equal(await countChunks(receiver), 0)
  await receiver.receive({ to: [receiver.mailbox()], raw: large })
  receiver.clock.now += 91 * DAY_MS
  assert.equal(await deleteExpiredInboundMessages(receiver.core), 1)
  await sweepLater(receiver)
  assert.equal(await countChunks(receiver), 0)
})

test('mail whose chunks are gone counts as deleted', async (t) => {
  const receiver = await openReceiver(t, { reader })
  const row = await receiver.receive({ to: [receiver.mailbox()], raw: large })
  await receiver.core.store.write((tx) => tx.delete(chunks))
  assert.equal(await findRaw(receiver.core, row), null)
  assert.equal((await loadInboundMessage(receiver.core, row.id)).raw, null)
})
