import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../../../src/base/errors.ts'
import { acceptInboundMessage } from '../../../../../src/features/incoming/receiving/accept/accept-message.ts'
import {
  type MessageReader,
  type ParsedMessage,
  ReaderLost,
} from '../../../../../src/features/incoming/receiving/process/parsed-message.ts'
import { startProcessing } from '../../../../../src/features/incoming/receiving/process/process.ts'
import { readIncomingHeader } from '../../../../../src/formats/incoming/header.ts'
import { readReport } from '../../../../../src/formats/report/read-report.ts'
import { asc, eq } from '../../../../../src/store/drizzle.ts'
import { type InboundMessage, inboundMessages } from '../../../../../src/store/schema/inbound.ts'
import type { InboundRecipient } from '../../../../../src/store/schema/json-values.ts'
import { chunks } from '../../../../../src/store/schema/messages.ts'
import { addProject } from '../../../../core.ts'
import { buildDsn, buildMessage, openReceiver, type Receiver } from '../receiver.ts'

function readHere(raw: Uint8Array): ParsedMessage {
  const octets = Buffer.from(raw)
  const header = readIncomingHeader(octets)
  return {
    report: readReport(octets),
    header,
    automatic: null,
    mail: null,
    kept: null,
    durationMs: 1,
  }
}

/** Reads in this process; `fate` may throw for a message, and sees whether it is alone. */
function readerOf(fate: (text: string, isAlone: boolean) => void | Promise<void>): MessageReader {
  return {
    read: async ({ raw }, { isAlone }) => {
      await fate(Buffer.from(raw).toString(), isAlone)
      return readHere(raw)
    },
  }
}

const rowsOf = ({ core }: Receiver) =>
  core.store.read.select().from(inboundMessages).orderBy(asc(inboundMessages.id)).all()

const server = { for: 'server', address: 'postmaster' } as const

const messageTo = (recipient: InboundRecipient, raw = buildMessage({})) => ({
  ...{ reversePath: '', clientAddress: '192.0.2.1', clientName: 'x', protocol: 'SMTP', tls: null },
  ...{ recipients: [recipient], content: [Buffer.from(raw)] },
})

test('F10: a message that ends its reader three times is set aside for the operator; others are read', async (t) => {
  const tries: { bad: number; good: number; alone: boolean[] } = { bad: 0, good: 0, alone: [] }
  const reader = readerOf((text, isAlone) => {
    if (!text.includes('bomb')) return void tries.good++
    tries.bad += 1
    tries.alone.push(isAlone)
    throw new ReaderLost('out of memory')
  })
  const receiver = await openReceiver(t, { reader })
  const [bad, good] = await Promise.all([
    receiver.receive({ to: [server], raw: buildMessage({}, 'bomb') }),
    receiver.receive({ to: [server], raw: buildMessage({}) }),
  ])
  assert.equal(bad.state, 'failed')
  assert.equal(bad.attempts, 3)
  assert.match(bad.error ?? '', /3 times/)
  assert.match(bad.raw?.toString() ?? '', /bomb/)
  assert.equal(good.state, 'processed')
  // With others in the same thread, none of them is known to be the cause.
  assert.deepEqual(tries, { bad: 4, good: 1, alone: [false, true, true, true] })
})

test('a message whose parsing fails has one attempt; messages parsed beside it have none', async (t) => {
  const alone: boolean[] = []
  const reader = readerOf((text, isAlone) => {
    if (!text.includes('odd')) return
    alone.push(isAlone)
    throw new Error('it cannot be read')
  })
  const receiver = await openReceiver(t, { reader })
  const [bad] = await Promise.all([
    receiver.receive({ to: [server], raw: buildMessage({}, 'odd') }),
    receiver.receive({ to: [server], raw: buildMessage({}) }),
  ])
  assert.deepEqual([bad.state, bad.attempts], ['failed', 3])
  assert.deepEqual(alone, [false, true, true])
})

test('a message lost with another one is parsed alone, without an attempt, and succeeds', async (t) => {
  let lost = 0
  const reader = readerOf((_, isAlone) => {
    if (isAlone) return
    lost += 1
    throw new ReaderLost('the thread ended')
  })
  const receiver = await openReceiver(t, { reader })
  const rows = await Promise.all(
    Array.from({ length: 5 }, () => receiver.receive({ to: [server], raw: buildMessage({}) })),
  )
  assert.equal(lost, 5)
  assert.deepEqual(
    rows.map(({ state, attempts }) => [state, attempts]),
    rows.map(() => ['processed', 0]),
  )
})

test('any number of messages that are read alone does not block the messages after them', async (t) => {
  const receiver = await openReceiver(t, { reader: readerOf(() => undefined) })
  await receiver.processing.stop()
  const { core } = receiver
  const accepting = Array.from({ length: 130 }, () => acceptInboundMessage(core, messageTo(server)))
  await Promise.all(accepting)
  const large = { isSuspect: true, sizeBytes: 40 * 1024 * 1024 }
  await core.store.write((tx) => tx.update(inboundMessages).set(large).run())
  const done = Promise.withResolvers<void>()
  const reader: MessageReader = {
    read: async ({ raw }, { isAlone }) => {
      if (isAlone) return new Promise(() => undefined)
      done.resolve()
      return readHere(raw)
    },
  }
  const processing = await startProcessing(core, reader)
  const good = await acceptInboundMessage(core, messageTo(server))
  await done.promise
  await processing.stop()
  const row = (await rowsOf(receiver)).find(({ id }) => id === good)
  assert.equal(row?.state, 'processed')
})

test('any amount of mail that waits for a slow DNS does not block the reports after it', async (t) => {
  const done = Promise.withResolvers<void>()
  const reader: MessageReader = {
    read: async ({ raw, isMail }) => {
      if (isMail) return new Promise(() => undefined)
      done.resolve()
      return readHere(raw)
    },
  }
  const receiver = await openReceiver(t, { reader })
  const { core } = receiver
  const id = await receiver.deliver()
  const mail = Array.from({ length: 140 }, () =>
    acceptInboundMessage(core, messageTo(receiver.mailbox())),
  )
  await Promise.all(mail)
  await acceptInboundMessage(core, messageTo(receiver.returnPath(id), buildDsn()))
  await done.promise
  await receiver.processing.stop()
  assert.equal((await receiver.email(id)).status, 'BOUNCED')
})

test('S31: any amount of mail of one project leaves the next place to mail of another', async (t) => {
  const ends: (() => void)[] = []
  const read: string[] = []
  const isRead = Promise.withResolvers<void>()
  const reader = readerOf(async (text) => {
    const name = text.includes('of another') ? 'other' : 'many'
    read.push(name)
    if (name === 'other') return isRead.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.push(resolve)
    await promise
  })
  const receiver = await openReceiver(t, { reader })
  const { core } = receiver
  // More than the places of a project and those of the next poll.
  const many = Array.from({ length: 200 }, () =>
    acceptInboundMessage(core, messageTo(receiver.mailbox())),
  )
  await Promise.all(many)
  const other = await addProject(core)
  const mailbox = { for: 'mailbox', address: 'x@other.test', projectId: other.id } as const
  const raw = buildMessage({ subject: 'of another' })
  await acceptInboundMessage(core, messageTo(mailbox, raw))
  // Each message takes long, and the other project's is the last to arrive.
  const work = setInterval(() => ends.shift()?.(), 1)
  await isRead.promise
  assert.ok(read.length <= 96 + 64 + 1, `${read.length}`)
  clearInterval(work)
  const rest = setInterval(() => {
    for (const end of ends.splice(0)) end()
  }, 1)
  await receiver.processing.idle()
  clearInterval(rest)
  assert.equal(read.length, 201)
})

test('one suspect is read at a time', async (t) => {
  let inHand = 0
  let most = 0
  const reader = readerOf(async (_, isAlone) => {
    if (!isAlone) throw new ReaderLost('the thread ended')
    most = Math.max(most, ++inHand)
    await new Promise(setImmediate)
    inHand -= 1
  })
  const receiver = await openReceiver(t, { reader })
  await Promise.all(
    Array.from({ length: 8 }, () => receiver.receive({ to: [server], raw: buildMessage({}) })),
  )
  assert.equal(most, 1)
})

const silentNotifier = { notify: () => undefined, listen: () => () => undefined }

/** A process that dies once the message is in a reader's hands. */
async function die(
  t: TestContext,
  { core }: Receiver,
  keep?: () => Promise<unknown>,
): Promise<void> {
  const began = Promise.withResolvers<void>()
  const never: MessageReader = {
    read: () => {
      began.resolve()
      return new Promise(() => undefined)
    },
  }
  await keep?.()
  const dead = await startProcessing({ ...core, inboundNotifier: silentNotifier }, never)
  // It would ask the closed database for ever.
  t.after(() => dead.stop())
  await began.promise
}

test('messages in progress at the end of a process are parsed alone by the next one, without an attempt', async (t) => {
  const receiver = await openReceiver(t)
  const id = await receiver.deliver()
  await receiver.processing.stop()
  await die(t, receiver, () =>
    acceptInboundMessage(receiver.core, messageTo(receiver.returnPath(id), buildDsn())),
  )
  const alone: boolean[] = []
  const read: MessageReader['read'] = (message, options) => {
    alone.push(options.isAlone)
    return receiver.reader.read(message, options)
  }
  const next = await startProcessing(receiver.core, { read })
  t.after(() => next.stop())
  await next.idle()
  const [row] = await rowsOf(receiver)
  assert.deepEqual([row?.state, row?.attempts, row?.interruptions], ['processed', 0, 0])
  assert.deepEqual(alone, [true])
  assert.equal((await receiver.email(id)).status, 'BOUNCED')
  assert.equal((await receiver.listEvents()).length, 1)
})

test('a message that is being parsed stays pending after any number of stops', async (t) => {
  const receiver = await openReceiver(t)
  await receiver.processing.stop()
  const { core } = receiver
  await acceptInboundMessage(core, messageTo(server))
  for (let stops = 0; stops < 20; stops += 1) {
    const began = Promise.withResolvers<boolean>()
    const read: MessageReader['read'] = (_, { isAlone }) => {
      began.resolve(isAlone)
      return new Promise(() => undefined)
    }
    const stopped = await startProcessing(core, { read })
    assert.equal(await began.promise, false)
    await stopped.stop()
  }
  const [row] = await rowsOf(receiver)
  assert.equal(row?.state, 'pending')
  assert.deepEqual([row?.attempts, row?.interruptions, row?.isSuspect], [0, 0, false])
})

test('a message that is parsed alone stays pending after a stop, too', async (t) => {
  const receiver = await openReceiver(t)
  await receiver.processing.stop()
  await die(t, receiver, () => acceptInboundMessage(receiver.core, messageTo(server)))
  for (let stops = 0; stops < 5; stops += 1) {
    const began = Promise.withResolvers<boolean>()
    const read: MessageReader['read'] = (_, { isAlone }) => {
      began.resolve(isAlone)
      return new Promise(() => undefined)
    }
    const stopped = await startProcessing(receiver.core, { read })
    assert.equal(await began.promise, true)
    await stopped.stop()
  }
  const [row] = await rowsOf(receiver)
  assert.deepEqual([row?.state, row?.attempts, row?.interruptions], ['pending', 0, 0])
})

/** Dies while it reads the only message alone; the next start finds it, which waits then. */
async function endAlone(t: TestContext, receiver: Receiver): Promise<InboundMessage | undefined> {
  await die(t, receiver)
  const reader = readerOf(() => assert.fail('it was read at once'))
  const next = await startProcessing({ ...receiver.core, inboundNotifier: silentNotifier }, reader)
  await next.stop()
  const [row] = await rowsOf(receiver)
  return row
}

test('a process that is killed in a loop while it reads a message alone waits longer each time', async (t) => {
  const receiver = await openReceiver(t)
  await receiver.processing.stop()
  const { core, clock } = receiver
  await die(t, receiver, () => acceptInboundMessage(core, messageTo(server)))
  for (let endCount = 0; endCount < 5; endCount += 1) {
    const row = await endAlone(t, receiver)
    assert.equal(row?.interruptions, endCount + 1)
    assert.equal((row?.dueAt ?? 0) - clock.now, 1_000 * 2 ** endCount)
    clock.now = row?.dueAt ?? 0
  }
  const last = await startProcessing(
    core,
    readerOf(() => undefined),
  )
  t.after(() => last.stop())
  await last.idle()
  const [row] = await rowsOf(receiver)
  assert.deepEqual([row?.state, row?.attempts, row?.interruptions], ['processed', 0, 5])
})

test('a message that waits after an interruption delays no other, nor does a clock set back', async (t) => {
  const receiver = await openReceiver(t)
  await receiver.processing.stop()
  const { core, clock } = receiver
  const first = await acceptInboundMessage(core, messageTo(server))
  const second = await acceptInboundMessage(core, messageTo(server))
  const suspects = { isSuspect: true, dueAt: 0 }
  await core.store.write((tx) => tx.update(inboundMessages).set(suspects).run())
  const waits = { interruptions: 3, dueAt: clock.now + 60_000 }
  await core.store.write((tx) =>
    tx.update(inboundMessages).set(waits).where(eq(inboundMessages.id, first)).run(),
  )
  const readings: string[] = []
  const reader = readerOf(() => void readings.push('read'))
  const processing = await startProcessing(core, reader)
  const isDone = async () => (await rowsOf(receiver)).find(({ id }) => id === second)?.state
  while ((await isDone()) !== 'processed') await new Promise(setImmediate)
  assert.equal(readings.length, 1)
  await processing.stop()
  clock.now -= 86_400_000
  const later = await startProcessing(core, reader)
  t.after(() => later.stop())
  await later.idle()
  assert.equal(readings.length, 2)
})

test('a message that ended ten processes in a row while it was alone is left to the operator', async (t) => {
  const receiver = await openReceiver(t)
  await receiver.processing.stop()
  const { core, clock } = receiver
  await die(t, receiver, () => acceptInboundMessage(core, messageTo(server)))
  for (let endCount = 0; endCount < 10; endCount += 1) {
    const row = await endAlone(t, receiver)
    clock.now = row?.dueAt ?? 0
  }
  const last = await startProcessing(
    core,
    readerOf(() => assert.fail('it was tried again')),
  )
  t.after(() => last.stop())
  await last.idle()
  const [row] = await rowsOf(receiver)
  assert.deepEqual([row?.state, row?.attempts], ['failed', 0])
  assert.equal(row?.error, 'the server ended 10 times while it parsed the message')
  assert.notEqual(row?.raw, null)
})

test('a message that cannot be applied does not affect the rest of its batch', async (t) => {
  const receiver = await openReceiver(t, { reader: readerOf(() => undefined) })
  const id = await receiver.deliver()
  // No email id at all: our own mistake, were it ever to happen.
  const broken = { ...receiver.returnPath(id), emailId: 'x' }
  const [bad, good] = await Promise.all([
    receiver.receive({ to: [broken], raw: buildDsn() }),
    receiver.receive({ to: [receiver.returnPath(id)], raw: buildDsn() }),
  ])
  assert.equal(good.state, 'processed')
  assert.equal(bad.state, 'failed')
  assert.equal((await receiver.email(id)).status, 'BOUNCED')
})

test('while the database cannot write, parsed messages wait, and are then applied once', async (t) => {
  const receiver = await openReceiver(t, { reader: readerOf(() => undefined) })
  const id = await receiver.deliver()
  const { store } = receiver.core
  const { write } = store
  const refused = Promise.withResolvers<void>()
  let keeps = 1
  t.mock.timers.enable({ apis: ['setTimeout'] })
  store.write = (fn) => {
    if (keeps-- > 0) return write(fn)
    refused.resolve()
    return Promise.reject(new AppError('DATABASE_ERROR', 'full'))
  }
  const arrived = receiver.receive({ to: [receiver.returnPath(id)], raw: buildDsn() })
  await refused.promise
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  store.write = write
  await new Promise(setImmediate)
  t.mock.timers.tick(1_000)
  assert.equal((await arrived).state, 'processed')
  assert.equal((await receiver.listEvents()).length, 1)
})

test('a suspect is not selected repeatedly while the database cannot be written', async (t) => {
  const receiver = await openReceiver(t, { reader: readerOf(() => undefined) })
  await receiver.processing.stop()
  const { core } = receiver
  await acceptInboundMessage(core, messageTo(server))
  await core.store.write((tx) => tx.update(inboundMessages).set({ isSuspect: true }).run())
  const { write } = core.store
  t.mock.timers.enable({ apis: ['setTimeout'] })
  // That it begins to read is on disk; that it reads this one is not.
  const refusals = t.mock.method(
    core.store,
    'write',
    async (fn: Parameters<typeof write>[0]): Promise<unknown> => {
      if (refusals.mock.callCount() < 1) return write(fn)
      await new Promise(setImmediate)
      throw new AppError('DATABASE_ERROR', 'full')
    },
  )
  const processing = await startProcessing(core, receiver.reader)
  t.after(() => processing.stop())
  for (let turns = 0; turns < 200; turns += 1) await new Promise(setImmediate)
  assert.ok(refusals.mock.callCount() < 5, `${refusals.mock.callCount()} tries`)
  refusals.mock.restore()
  t.mock.timers.tick(1_000)
  await processing.idle()
  const [row] = await rowsOf(receiver)
  assert.deepEqual([row?.state, row?.attempts], ['processed', 0])
})

test('mail that is selected while it is applied is not applied again', async (t) => {
  const receiver = await openReceiver(t, { reader: readerOf(() => undefined) })
  await receiver.processing.stop()
  const { core } = receiver
  const ids: string[] = []
  for (let count = 0; count < 2; count += 1) {
    ids.push(await acceptInboundMessage(core, messageTo(server)))
  }
  const [first = '', second = ''] = ids
  const fail = { attempts: 3, isSuspect: true }
  await core.store.write((tx) =>
    tx.update(inboundMessages).set(fail).where(eq(inboundMessages.id, first)).run(),
  )
  const read = t.mock.fn<MessageReader['read']>(async ({ raw }) => readHere(raw))
  // The second ends elsewhere while the first fails.
  const list = core.store.read.list.bind(core.store.read)
  const listing = t.mock.method(
    core.store.read,
    'list',
    async (...args: Parameters<typeof list>) => {
      const rows = await list(...args)
      const done = { state: 'processed', subject: 'done before' } as const
      await core.store.write((tx) =>
        tx.update(inboundMessages).set(done).where(eq(inboundMessages.id, second)).run(),
      )
      listing.mock.restore()
      return rows
    },
  )
  const processing = await startProcessing(core, { read })
  t.after(() => processing.stop())
  await processing.idle()
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate)
  const rows = await rowsOf(receiver)
  assert.deepEqual(
    rows.map(({ state, subject }) => [state, subject]),
    [
      ['failed', null],
      ['processed', 'done before'],
    ],
  )
})

test('many reports are applied in few transactions', async (t) => {
  const receiver = await openReceiver(t, { reader: readerOf(() => undefined) })
  const ids: string[] = []
  for (let count = 0; count < 60; count += 1) ids.push(await receiver.deliver())
  await receiver.processing.stop()
  await Promise.all(
    ids.map((id) =>
      acceptInboundMessage(receiver.core, messageTo(receiver.returnPath(id), buildDsn())),
    ),
  )
  const write = t.mock.method(receiver.core.store, 'write')
  const inboundNotifier = { notify: () => undefined, listen: () => () => undefined }
  const processing = await startProcessing(
    { ...receiver.core, inboundNotifier },
    { read: async ({ raw }) => readHere(raw) },
  )
  t.after(() => processing.stop())
  await processing.idle()
  const bounced = await receiver.core.store.read
    .select()
    .from(inboundMessages)
    .where(eq(inboundMessages.kind, 'bounce'))
    .all()
  assert.equal(bounced.length, 60)
  assert.ok(write.mock.callCount() < 130, `${write.mock.callCount()} writes`)
})

test('mail is read from memory when it comes, and from the database when there is too much', async (t) => {
  const ends: (() => void)[] = []
  let read = 0
  const reader = readerOf(() => {
    read += 1
    return new Promise<void>((resolve) => ends.push(resolve))
  })
  const receiver = await openReceiver(t, { reader })
  const { core, processing } = receiver
  await processing.idle()
  const list = t.mock.method(core.store.read, 'list')
  const find = t.mock.method(core.store.read, 'find')
  const accept = (count: number) =>
    Promise.all(Array.from({ length: count }, () => acceptInboundMessage(core, messageTo(server))))
  await accept(90)
  assert.equal(read, 90)
  // Those of the quota are there.
  const finds = find.mock.calls.filter(({ result }) => result !== undefined)
  const found = await Promise.all(finds.map(({ result }) => result as Promise<object | undefined>))
  assert.deepEqual(
    found.filter((row) => row !== undefined && 'raw' in row),
    [],
  )
  assert.equal(list.mock.callCount(), 0)
  await accept(30)
  assert.equal(read, 96)
  const work = setInterval(() => {
    for (const end of ends.splice(0)) end()
  }, 1)
  await processing.idle()
  clearInterval(work)
  assert.equal(read, 120)
  assert.ok(list.mock.callCount() > 0)
  const rows = await rowsOf(receiver)
  assert.ok(rows.every(({ state }) => state === 'processed'))
})

test('a message that comes while older ones of a list wait to begin does not begin before them', async (t) => {
  const receiver = await openReceiver(t)
  await receiver.processing.stop()
  const { core } = receiver
  const accept = (text: string) =>
    acceptInboundMessage(core, messageTo(server, buildMessage({}, text)))
  const failing = await accept('failing')
  for (const text of ['1 of 3', '2 of 3']) await accept(text)
  const fail = { attempts: 3, isSuspect: true }
  await core.store.write((tx) =>
    tx.update(inboundMessages).set(fail).where(eq(inboundMessages.id, failing)).run(),
  )
  const { write } = core.store
  // The first records that it begins to read; the second, that a message has failed.
  const writes = t.mock.method(
    core.store,
    'write',
    async (fn: Parameters<typeof write>[0]): Promise<unknown> => {
      if (writes.mock.callCount() === 1) await accept('3 of 3')
      return write(fn)
    },
  )
  const begun: string[] = []
  const reader = readerOf((text) => void begun.push(/\d of 3/.exec(text)?.[0] ?? ''))
  const processing = await startProcessing(core, reader)
  t.after(() => processing.stop())
  await processing.idle()
  assert.deepEqual(begun, ['1 of 3', '2 of 3', '3 of 3'])
  assert.ok((await rowsOf(receiver)).every(({ state }) => state !== 'pending'))
})

test('a reader gets the octets of a message that was accepted, and nothing else', async (t) => {
  const sizes: number[] = []
  const reader: MessageReader = {
    read: async ({ raw }) => {
      sizes.push(raw.byteLength, raw.buffer.byteLength)
      return readHere(raw)
    },
  }
  const receiver = await openReceiver(t, { reader })
  const { sizeBytes } = await receiver.receive({ to: [server], raw: buildMessage({}) })
  assert.deepEqual(sizes, [sizeBytes, sizeBytes])
})

test('stop waits until the chunks of a report that is being applied are deleted', async (t) => {
  const stopped = Promise.withResolvers<void>()
  const reader = readerOf(() => {
    setImmediate(() => stopped.resolve(receiver.processing.stop()))
  })
  const receiver = await openReceiver(t, { reader })
  const { store } = receiver.core
  const to = receiver.returnPath(await receiver.deliver())
  const raw = `${buildDsn()}${'x'.repeat(3 * 1024 * 1024)}`
  await acceptInboundMessage(receiver.core, messageTo(to, raw))
  await stopped.promise
  assert.equal((await rowsOf(receiver))[0]?.state, 'processed')
  assert.equal(await store.read.$count(chunks), 0)
})
