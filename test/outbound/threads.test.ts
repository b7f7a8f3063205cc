import assert from 'node:assert/strict'
import { after, before, describe, it, test } from 'node:test'
import { silentLog } from '../../src/base/log.ts'
import { findInMessage } from '../../src/formats/compose/message-findings.ts'
import { checkTemplate } from '../../src/formats/template/template.ts'
import { drop, type Sink, type SinkOptions, silence } from '../fakes/smtp-sink.ts'
import { inTime, NEVER_MS } from '../patience.ts'
import { pause } from '../pause.ts'
import { type HarnessOptions, makeSource, makeTasks, useOutbound } from './harness.ts'

const ofTest = useOutbound()

async function start(sinkOptions: SinkOptions, options: HarnessOptions = {}, use = ofTest) {
  const [sink] = (await use.sinksOf({ host: '127.0.0.1', ...sinkOptions })) as [Sink]
  const { delivery, deps } = options
  const harness = await use.start({
    ...options,
    delivery: { mode: 'sandbox', ...delivery },
    deps: { sandboxPort: sink.port, ...deps },
  })
  return { ...harness, sink }
}

const endless = makeSource({
  id: 'endless',
  body: '<p>{% for i in (1..900) %}{% for j in (1..900) %}{% assign x = i %}{% endfor %}{% endfor %}{{name}}</p>',
})

/** The same, but compiled again for each name. */
function content(name: string) {
  return { ...endless.content, id: name, body: `${name} ${endless.content.body}` }
}

test('F10: a template that takes too long ends its thread, and its message is sent with the placeholders filled in', async () => {
  const { sendAll, sink } = await start({}, { deps: { hangMs: 400 } })
  const others = makeTasks(20, { domain: 'a.test' })
  const tasks = [...others.slice(0, 10), ...makeTasks(1, { domain: 'a.test', source: endless })]
  const attempts = await sendAll([...tasks, ...others.slice(10)])
  assert.ok(attempts.every(({ outcome }) => outcome.result === 'delivered'))
  assert.ok(sink.acceptedCount() >= 21)
  const recipients = new Set(sink.messages.flatMap(({ to }) => to))
  assert.equal(recipients.size, 21)
  const plain = sink.messages.filter(({ bytes }) => bytes.includes('assign x'))
  assert.equal(plain.length, 1)
})

test('messages delivered before their thread was ended are reported and not sent again', async () => {
  const { outbound, reported, reports, sink } = await start(
    {},
    { deps: { hangMs: 400 }, delivery: { maxConnectionsPerSite: 1 } },
  )
  const tasks = makeTasks(5, { domain: 'a.test' })
  outbound.deliver([...tasks, ...makeTasks(1, { domain: 'a.test', source: endless })])
  await reported(6)
  assert.equal(sink.acceptedCount(), 6)
  const results = reports.map((report) => report.kind === 'attempted' && report.outcome.result)
  assert.deepEqual(results, Array(6).fill('delivered'))
  assert.deepEqual(new Set(reports.map(({ emailId }) => emailId)).size, 6)
})

test('delivered messages are reported even if their thread does not stop in time', async () => {
  const { outbound, reports, sink } = await start(
    {},
    { delivery: { maxConnectionsPerSite: 8 }, deps: { deliveryThreads: 1 } },
  )
  outbound.deliver(makeTasks(5, { domain: 'a.test' }))
  await sink.waitForMessages(5)
  // The sink counts a message before it answers. By these answers of the thread, the loops of both
  // have turned often enough for the sink's to be written and read.
  for (let turn = 0; turn < 20; turn += 1) await outbound.preview([makeSource()])
  const slow = ['a', 'b', 'c', 'd'].map((name) => ({ ...endless, content: content(name) }))
  outbound.deliver(slow.flatMap((source) => makeTasks(1, { domain: 'a.test', source })))
  await outbound.stop(50)
  const kinds = reports.map((report) => report.kind)
  assert.equal(sink.acceptedCount(), 5)
  assert.equal(kinds.filter((kind) => kind === 'attempted').length, 5)
  assert.equal(kinds.filter((kind) => kind === 'put back').length, 4)
})

test('a message that takes long to compose holds no connection of its site', async () => {
  const { outbound, reported, reports } = await start({})
  const capacity = outbound.capacity('sandbox', 1)
  const large = makeSource({ id: 'large', body: `<p>${'words '.repeat(45_000)}</p>` })
  outbound.deliver(makeTasks(capacity + 3, { domain: 'a.test', source: large }))
  assert.equal(outbound.capacity('sandbox', 1), capacity)
  assert.equal(outbound.inFlight(), capacity + 3)
  await reported(capacity + 3)
  assert.ok(reports.every((report) => report.kind === 'attempted'))
  assert.equal(outbound.inFlight(), 0)
})

test('F10: three megabytes of placeholders, accepted before there was a limit, do not end a thread', async () => {
  const ends: unknown[] = []
  const log = { ...silentLog(), error: (facts: unknown) => ends.push(facts) }
  const { send, sink } = await start({}, { deps: { log: log as never } })
  const body = `{{ name }}${'{{ a }}'.repeat(430_000)}`
  const source = makeSource({ id: 'harmful', body })
  const { outcome, faults } = await send({ domain: 'a.test', source })
  assert.equal(outcome.result, 'delivered')
  assert.deepEqual(
    faults.map(({ part, message }) => [part, message]),
    [['body', 'longer than 2000000 characters']],
  )
  const sent = sink.messages[0]?.bytes.toString('latin1') ?? ''
  assert.match(sent, /Ann\{\{ a \}\}/)
  assert.deepEqual(ends, [])
})

test('a page of previews shows all others if one fails, and one that takes too long with its placeholders filled in', async () => {
  const { outbound } = await start({}, { deps: { hangMs: 400 } })
  const broken = { ...makeSource(), variables: null } as never
  const previews = await outbound.preview([makeSource(), endless, broken, makeSource({ id: 'c' })])
  assert.deepEqual(
    previews.map((look) => look?.subject ?? null),
    ['Hello Ann', 'Hello Ann', null, 'Hello Ann'],
  )
  assert.match(previews[1]?.text ?? '', /Ann/)
})

test('no thread runs before there is work', async () => {
  const { outbound, stop } = await start({})
  await inTime(stop(NEVER_MS), 'the end')
  assert.equal(outbound.inFlight(), 0)
})

test('stop puts back deliveries that have not begun and waits for the others', async () => {
  let answer: (() => void) | undefined
  const respond: SinkOptions['respond'] = ({ verb }) =>
    verb === 'MESSAGE' ? (socket) => (answer = () => socket.write('250 ok\r\n')) : undefined
  const { outbound, reported, reports, sink } = await start(
    { respond },
    { delivery: { maxConnectionsPerSite: 1 } },
  )
  outbound.deliver(makeTasks(4, { domain: 'a.test' }))
  while (answer === undefined) await pause()
  const stopped = outbound.stop(NEVER_MS)
  await reported(3)
  assert.ok(reports.every(({ kind }) => kind === 'put back'))
  answer()
  await stopped
  assert.equal(reports.length, 4)
  assert.equal(reports[3]?.kind, 'attempted')
  assert.equal(outbound.capacity('sandbox', 1), 0)
  assert.equal(outbound.inFlight(), 0)
  assert.equal(sink.openCount(), 0)
})

test('after the grace period connections are closed, and a sent message is marked', async () => {
  let hasMessage = false
  const respond: SinkOptions['respond'] = ({ verb, connection }) => {
    if (verb === 'MESSAGE') {
      hasMessage = true
      return silence
    }
    return connection === 2 && verb !== 'CONNECT' && verb !== 'EHLO' ? silence : undefined
  }
  const { outbound, reports, sink } = await start({ respond }, {})
  outbound.deliver(makeTasks(2, { domain: 'a.test' }))
  while (!hasMessage || sink.lines.filter((line) => /^RCPT/.test(line)).length < 2) await pause()
  await outbound.stop(50)
  assert.equal(reports.length, 2)
  const kinds = reports.map((report) =>
    report.kind === 'attempted' ? report.outcome.isMaybeDelivered : 'put back',
  )
  assert.deepEqual(new Set(kinds), new Set([true, 'put back']))
})

test('deliveries added while stopping are put back', async () => {
  const { outbound, reports, toTask } = await start({ respond: () => drop })
  const stopped = outbound.stop(10)
  outbound.deliver([toTask({ domain: 'a.test' })])
  await stopped
  assert.deepEqual(
    reports.map(({ kind }) => kind),
    ['put back'],
  )
  await assert.rejects(outbound.preview([makeSource()]))
})

test('a large content is sent to a thread once for many recipients', async () => {
  const attachment = {
    filename: 'a.bin',
    contentType: 'application/octet-stream',
    content: Buffer.alloc(300_000, 7).toString('base64'),
    contentId: null,
    disposition: 'attachment' as const,
  }
  const source = makeSource({ id: 'large', attachments: [attachment] })
  const { sendAll, sink } = await start({}, { deps: { deliveryThreads: 2 } })
  await sendAll(makeTasks(12, { domain: 'a.test', source }))
  assert.equal(sink.acceptedCount(), 12)
  assert.ok(sink.messages.every(({ bytes }) => bytes.length > 400_000))
})

describe('one thread after the other work', () => {
  const use = useOutbound(after)
  let server: Awaited<ReturnType<typeof start>>
  before(async () => {
    server = await start({}, {}, use)
  })

  it('previews are rendered as messages are, in the order of the requests', async () => {
    const sources = ['Ann', 'Bob'].map((name) => ({
      ...makeSource(),
      variables: { stored: { name }, request: {}, system: {} },
    }))
    const previews = await server.outbound.preview(sources)
    assert.deepEqual(
      previews.map((look) => look?.subject),
      ['Hello Ann', 'Hello Bob'],
    )
    assert.match(previews[1]?.html ?? '', /<p>Dear Bob<\/p>/)
    assert.match(previews[1]?.text ?? '', /Dear Bob/)
    assert.deepEqual(await server.outbound.preview([]), [])
  })

  it('an inspection has what is found in the messages, and not the messages', async () => {
    const source = makeSource({
      id: 'a',
      body: '<a href="http://shop.test/">Shop</a><img src="a.png">',
    })
    const rules = {
      baseUrl: 'https://mail.shop.test',
      isSandbox: false,
      isUnsubscribeLinkDue: true,
      hasFooter: false,
    }
    const [message] = await server.outbound.preview([source])
    const inspected = await server.outbound.inspect([source, makeSource()], rules)
    assert.ok(message)
    assert.deepEqual(inspected[0], { faults: [], findings: findInMessage(message, rules) })
    assert.deepEqual(
      inspected[0]?.findings.map(({ code }) => code),
      ['no_unsubscribe_link', 'insecure_link', 'image_without_alt'],
    )
    assert.deepEqual(
      inspected[1]?.findings.map(({ code }) => code),
      ['no_unsubscribe_link'],
    )
  })

  it('a template is checked in a thread with the usual result', async () => {
    assert.equal(await server.outbound.checkTemplate('Hello {{ name }}'), undefined)
    const fault = await server.outbound.checkTemplate('Hello\n{% if name %}')
    assert.deepEqual(fault, checkTemplate('Hello\n{% if name %}'))
    assert.notEqual(fault, undefined)
  })

  it('the fault of a template comes with the result of the message', async () => {
    const source = makeSource({ id: 'faulty', body: '<p>{{ name | shout }}</p>\n{% if %}' })
    const { outcome, faults } = await server.send({ domain: 'a.test', source })
    assert.equal(outcome.result, 'delivered')
    assert.deepEqual(
      faults.map(({ part, line }) => [part, line]),
      [['body', 1]],
    )
    const whole = await server.send({ domain: 'a.test' })
    assert.deepEqual(whole.faults, [])
  })
})
