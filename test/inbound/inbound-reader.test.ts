import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { silentLog } from '../../src/base/log.ts'
import {
  ReaderLost,
  type UnparsedMessage,
} from '../../src/features/incoming/receiving/process/parsed-message.ts'
import { type InboundReaderOptions, startInboundReader } from '../../src/inbound/inbound-reader.ts'
import { buildArf, buildDsn, buildMessage } from '../features/incoming/receiving/receiver.ts'
import { leapingClock } from './leaping-clock.ts'

const SETTINGS = { dnsServers: ['127.0.0.1:9'], hostname: 'mx.test' }
const together = { isAlone: false }

const unread = (
  raw: string | Uint8Array,
  change: Partial<UnparsedMessage> = {},
): UnparsedMessage => ({
  raw: Buffer.from(raw as string),
  ...{ reversePath: '', clientAddress: '127.0.0.1', clientName: 'x.test', isMail: false },
  ...change,
})

function open(t: TestContext, options: Partial<InboundReaderOptions> = {}) {
  const reader = startInboundReader({ settings: SETTINGS, log: silentLog(), ...options })
  t.after(() => reader.stop())
  return reader
}

let opened: ReturnType<typeof startInboundReader> | undefined
after(() => opened?.stop())

/** One reader with its real thread, for tests that leave it as it was. */
function share() {
  opened ??= startInboundReader({ settings: SETTINGS, log: silentLog() })
  return opened
}

/** A thread that behaves as its messages say. */
const obedient =
  (start = `parentPort.postMessage({ type: 'ready' })`) =>
  () =>
    new Worker(
      `const { parentPort } = require('node:worker_threads')
    ${start}
    parentPort.on('message', (tasks) => { for (const { id, message } of tasks) {
      const text = Buffer.from(message.raw).toString()
      if (text === 'hang') for (;;) {}
      if (text === 'die') process.exit(1)
      if (text === 'eat') { const all = []; for (;;) all.push(new Array(1e6).fill(id)) }
      if (text === 'wait') continue
      // As on a machine whose processors are busy: the thread does not run.
      if (text === 'starve') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
      if (text === 'stuck') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      parentPort.postMessage({ type: 'read', results: [{ id, reading: text }] })
    } })`,
      { eval: true, resourceLimits: { maxOldGenerationSizeMb: 32 } },
    )

/** The real thread, in which reading takes as much processor time as a message says, or ends the thread. */
function realThread(workerData: object): Worker {
  const file = path.join(import.meta.dirname, '../../src/inbound/inbound-reader-thread.ts')
  return new Worker(
    `const copy = Buffer.from
    Buffer.from = (...args) => {
      const octets = copy(...args)
      const [, takesMs, dies] = /^Takes: (\\d+)(, dies)?/.exec(octets.toString('latin1', 0, 40)) ?? []
      if (takesMs !== undefined) {
        const usedMs = () => process.threadCpuUsage().user / 1_000
        for (const before = usedMs(); usedMs() - before < Number(takesMs); );
      }
      if (dies !== undefined) process.exit(1)
      return octets
    }
    void import(${JSON.stringify(file)})`,
    { eval: true, workerData },
  )
}

test('messages that come together are done when one behind them ends the thread', async (t) => {
  const small = buildDsn()
  const rounds: [before: string, fatal: string][] = [
    [small, `Takes: 0, dies\r\n${repeat('x', 100_000)}`],
    [`Takes: 30\r\n${small}`, 'Takes: 0, dies'],
  ]
  const reader = open(t, { launch: realThread })
  for (const [before, fatal] of rounds) {
    const reading = Array.from({ length: 8 }, () => reader.read(unread(before), together))
    const lost = [fatal, small].map((text) =>
      assert.rejects(reader.read(unread(text), together), ReaderLost),
    )
    await Promise.all([...reading, ...lost])
  }
})

test('the time limit of a message does not count those that came together with it', async (t) => {
  const reader = open(t, { launch: realThread, timeoutMs: 300 })
  const slow = `Takes: 50\r\n${buildDsn()}`
  await Promise.all(Array.from({ length: 16 }, () => reader.read(unread(slow), together)))
  await assert.rejects(reader.read(unread('Takes: 5000'), together), ReaderLost)
})

test('small messages that come together are answered together', async (t) => {
  const workers: Worker[] = []
  const launch = (settings: object) => {
    const worker = realThread(settings)
    workers.push(worker)
    return worker
  }
  const reader = open(t, { launch })
  await reader.read(unread(buildDsn()), together)
  let answers = 0
  workers[0]?.on('message', () => {
    answers += 1
  })
  const small = 'Subject: x\r\n\r\n'
  await Promise.all(Array.from({ length: 16 }, () => reader.read(unread(small), together)))
  assert.ok(answers < 8, `${answers} answers`)
})

test('mail that waits for DNS leaves capacity for reports', async (t) => {
  const reader = open(t, { launch: obedient() })
  const mail = Array.from({ length: 100 }, () =>
    assert.rejects(reader.read(unread('wait', { isMail: true }), together), ReaderLost),
  )
  assert.equal(await reader.read(unread('report'), together), 'report')
  await reader.stop()
  await Promise.all(mail)
})

test('no thread runs before the first message, nor after a while without messages', async (t) => {
  const workers: Worker[] = []
  const launch = () => {
    const worker = obedient()()
    workers.push(worker)
    return worker
  }
  const reader = open(t, { launch, timeoutMs: 100, idleMs: 20 })
  assert.equal(reader.countThreads(), 0)
  await reader.read(unread('fine'), together)
  assert.equal(reader.countThreads(), 1)
  await once(workers[0] as Worker, 'exit')
  assert.equal(reader.countThreads(), 0)
  assert.equal(await reader.read(unread('again'), together), 'again')
})

test('a message is parsed in the thread', async () => {
  const { report, header, mail } = await share().read(unread(buildDsn()), together)
  assert.equal(report.kind, 'bounce')
  assert.equal(header.subject, 'Undelivered Mail Returned to Sender')
  assert.equal(mail, null)
})

test('S8: a thread that hangs, crashes or runs out of memory is replaced, and its messages are lost', async (t) => {
  const reader = open(t, { launch: obedient(), timeoutMs: 300 })
  for (const fate of ['hang', 'die', 'eat']) {
    const bystander = reader.read(unread('wait'), together)
    await assert.rejects(Promise.all([reader.read(unread(fate), together), bystander]), ReaderLost)
    await assert.rejects(bystander, ReaderLost)
    assert.equal(await reader.read(unread('fine'), together), 'fine')
  }
})

test('a message whose thread gets no processor for long is read, and a thread that never runs is replaced', async (t) => {
  const patient = open(t, { launch: obedient(), timeoutMs: 50, maxClockMs: 60_000 })
  assert.equal(await patient.read(unread('starve'), together), 'starve')
  const clock = leapingClock(t)
  await assert.rejects(patient.read(unread('stuck'), together), ReaderLost)
  clock.end()
  assert.equal(await patient.read(unread('fine'), together), 'fine')
})

test('a message that is read alone shares its thread with no other', async (t) => {
  const reader = open(t, { launch: obedient(), timeoutMs: 300 })
  const alone = reader.read(unread('die'), { isAlone: true })
  const others = ['a', 'b', 'c'].map((text) => reader.read(unread(text), together))
  await assert.rejects(alone, ReaderLost)
  assert.deepEqual(await Promise.all(others), ['a', 'b', 'c'])
})

test('messages of a thread that does not start wait for the next thread', async (t) => {
  let starts = 0
  const broken = obedient(`throw new Error('no such module')`)
  const reader = open(t, { launch: () => (starts++ === 0 ? broken() : obedient()()) })
  assert.equal(await reader.read(unread('fine'), together), 'fine')
  assert.equal(starts, 2)
})

test('stop rejects the messages being read', async (t) => {
  const reader = open(t, { launch: obedient() })
  const reading = assert.rejects(reader.read(unread('wait'), together), ReaderLost)
  await reader.read(unread('fine'), together)
  await reader.stop()
  await reading
  await assert.rejects(reader.read(unread('late'), together), ReaderLost)
})

const repeat = (text: string, count: number) => text.repeat(count)
const nested = (count: number) =>
  Array.from(
    { length: count },
    (_, n) => `Content-Type: multipart/mixed; boundary="b${n}"\r\n\r\n--b${n}`,
  )

const mimeBombs: Record<string, string> = {
  'ten thousand nested parts': `From: a@b.test\r\n${nested(10_000).join('\r\n')}\r\n\r\nx`,
  'ten thousand parts': buildMessage(
    { 'Content-Type': 'multipart/mixed; boundary=b' },
    repeat('--b\r\n\r\nx\r\n', 10_000),
  ),
  'messages within messages': `From: a@b.test\r\n${repeat('Content-Type: message/rfc822\r\n\r\n', 5_000)}x`,
  'a part that is its own parent': buildMessage(
    { 'Content-Type': 'multipart/mixed; boundary=b' },
    repeat('--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n', 5_000),
  ),
  'a header section of 1 MB': buildMessage({ 'X-Long': repeat('y', 1_000_000) }),
  'fifty thousand fields': buildMessage({}, 'x').replace(
    '\r\n',
    `\r\n${repeat('X: 1\r\n', 50_000)}`,
  ),
  'an address of 64 KB': buildMessage({ From: `<${repeat('b', 65_536)}@x.test>` }),
  'groups within groups': buildMessage({ From: `${repeat('g:', 15_000)} a@b.test;` }),
  'open comments': buildMessage({ From: `${repeat('(', 60_000)}a@b.test` }),
  'a base64 line of 1 MB': buildMessage(
    { 'Content-Type': 'text/html', 'Content-Transfer-Encoding': 'base64' },
    Buffer.alloc(750_000, '<div>').toString('base64'),
  ),
  'unclosed elements': buildMessage({ 'Content-Type': 'text/html' }, repeat('<div>', 80_000)),
  'attributes without end': buildMessage(
    { 'Content-Type': 'text/html' },
    `<a ${repeat('x=1 ', 100_000)}>`,
  ),
  'open comments in HTML': buildMessage({ 'Content-Type': 'text/html' }, repeat('<!--', 100_000)),
  'an unknown charset': buildMessage({ 'Content-Type': 'text/html; charset=x-no' }, '\u00ff'),
  'encoded words without end': buildMessage({ Subject: repeat('=?utf-8?q?', 20_000) }),
  'references without end': buildMessage({ References: repeat('<a@b> ', 40_000) }),
  'signatures without end': buildMessage({}).replace(
    '\r\n',
    `\r\n${repeat('DKIM-Signature: v=1; d=a.test; s=b; h=from; bh=x; b=x\r\n', 500)}`,
  ),
  nothing: '',
}

test('S8: MIME bombs are read in bounded time and memory', async () => {
  const reader = share()
  for (const [name, raw] of Object.entries(mimeBombs)) {
    const reading = await reader.read(unread(raw, { isMail: true }), { isAlone: true })
    assert.notEqual(reading.mail, null, name)
    const { mail } = reading
    assert.ok((mail?.text?.length ?? 0) + (mail?.html?.length ?? 0) < 4_000_000, name)
    assert.ok(JSON.stringify(reading.header).length < 20_000, name)
    assert.ok((mail?.attachments.length ?? 0) <= 100, name)
  }
  assert.equal(reader.countThreads(), 1)
})

test('the first parts of a message with too many parts are still read', async () => {
  const raw = buildMessage(
    { 'Content-Type': 'multipart/mixed; boundary=b' },
    `--b\r\n\r\nfirst\r\n${repeat('--b\r\n\r\nx\r\n', 2_000)}`,
  )
  const { mail } = await share().read(unread(raw, { isMail: true }), together)
  assert.equal(mail?.isPartial, true)
  assert.match(mail?.text ?? '', /^first/)
})

const corpus = path.join(import.meta.dirname, '../../../shared/corpus/bounces')

/** Messages of our own and, if present, real bounces. */
function listSeeds(): Buffer[] {
  const own = [
    buildDsn(),
    buildArf(['X-Pillarbox-Id: abc']),
    buildMessage({ From: 'a@b.test' }, '<p>x'),
  ]
  const seeds = own.map((text) => Buffer.from(text))
  if (!existsSync(corpus)) return seeds
  const names = readdirSync(corpus).filter((name) => name.endsWith('.eml'))
  return [...seeds, ...names.map((name) => readFileSync(path.join(corpus, name)))]
}

const mutation = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.nat(40),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc
      .constantFrom(
        '\r\n--b',
        '\0',
        '\r',
        '\n\n',
        '=?utf-8?b?',
        'Content-Type: message/rfc822\r\n\r\n',
      )
      .map((text) => Buffer.from(text)),
  ),
})

test('S8: messages damaged at random are read without a crash', async () => {
  const reader = share()
  const seeds = listSeeds()
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.array(mutation, { maxLength: 6 }), async (seed, mutations) => {
      const raw = mutations.reduce(
        (octets, { at, drop, insert }) => {
          const from = Math.floor(at * octets.length)
          return Buffer.concat([octets.subarray(0, from), insert, octets.subarray(from + drop)])
        },
        seeds[seed % seeds.length] ?? Buffer.alloc(0),
      )
      const { report, header, mail } = await reader.read(unread(raw, { isMail: true }), together)
      assert.ok(report.recipients.length < 1_000)
      assert.equal(typeof header.subject, 'string')
      assert.doesNotMatch(mail?.html ?? '', /<script|\son\w+=|javascript:/i)
    }),
    { numRuns: 40 },
  )
  assert.ok(reader.countThreads() >= 1)
})
