import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../src/base/log.ts'
import { startSandboxSink } from '../../src/inbound/sandbox-sink.ts'
import { sandboxMessages } from '../../src/store/schema/service.ts'
import { openTestCore } from '../core.ts'
import { connect } from './dialogue.ts'

const MESSAGE = 'From: a@example.test\r\nSubject: Hello\r\n\r\nText'

type Line = { level: string; msg: string }

/** `lines`: what the sandbox logs from `info` on. */
async function openSandbox(t: TestContext) {
  const core = await openTestCore(t)
  const lines: Line[] = []
  const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const sink = await startSandboxSink({ ...core, log })
  t.after(sink.stop)
  const dial = async () => {
    const client = await connect(sink.port, { ehlo: 'client.test' })
    t.after(client.close)
    return client
  }
  const stored = () => core.store.read.select().from(sandboxMessages).all()
  return { core, lines, dial, stored }
}

test('the 250 of the sandbox means that the message is stored for each recipient', async (t) => {
  const { dial, stored, lines } = await openSandbox(t)
  const client = await dial()
  await client.open('a@example.test', 'b@example.net', 'c@example.net')
  assert.equal((await client.data(MESSAGE)).code, 250)
  const rows = await stored()
  assert.deepEqual(
    rows.map(({ recipient, subject }) => [recipient, subject]),
    [
      ['b@example.net', 'Hello'],
      ['c@example.net', 'Hello'],
    ],
  )
  assert.deepEqual(lines, [])
})

for (const [name, part, end] of [
  ['ends before its content', '', 'destroy'],
  ['ends in the middle of its content', MESSAGE.slice(0, 30), 'destroy'],
  // As the system does for a client that has not read the 354.
  ['is reset before its content', '', 'resetAndDestroy'],
] as const) {
  test(`a session with an open message that ${name} stores nothing and is no failure`, async (t) => {
    const { dial, stored, lines } = await openSandbox(t)
    const client = await dial()
    await client.open('a@example.test', 'b@example.net')
    const envelope = 'MAIL FROM:<a@example.test>\r\nRCPT TO:<c@example.net>\r\nDATA\r\n'
    client.write(`${MESSAGE}\r\n.\r\n${envelope}${part}`)
    for (const code of [250, 250, 250, 354]) assert.equal((await client.read()).code, code)
    client.socket[end]()
    await client.ended()
    // The sandbox has seen the end by the time that it has stored the message of another session.
    const another = await dial()
    await another.open('a@example.test', 'd@example.net')
    assert.equal((await another.data(MESSAGE)).code, 250)
    assert.deepEqual(
      (await stored()).map(({ recipient }) => recipient),
      ['b@example.net', 'd@example.net'],
    )
    assert.deepEqual(lines, [])
  })
}

test('a message that cannot be stored is refused for now, and is an error', async (t) => {
  const { core, dial, stored, lines } = await openSandbox(t)
  const client = await dial()
  await client.open('a@example.test', 'b@example.net')
  const full = t.mock.method(core.store, 'write', () => Promise.reject(new Error('disk I/O error')))
  assert.equal((await client.data(MESSAGE)).code, 451)
  full.mock.restore()
  assert.deepEqual(
    lines.map(({ level, msg }) => [level, msg]),
    [['error', 'the sandbox could not store a message']],
  )
  assert.deepEqual(await stored(), [])
})
