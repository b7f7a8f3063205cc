import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../../src/base/log.ts'
import { and, eq } from '../../../src/store/drizzle.ts'
import { events } from '../../../src/store/schema/events.ts'
import { inboundMessages } from '../../../src/store/schema/inbound.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { startDnsServer } from '../../fakes/dns-server.ts'
import { runAt } from '../../fakes/terminal.ts'
import { connect } from '../../inbound/dialogue.ts'
import { PATIENCE_MS } from '../../patience.ts'
import { type Installation, install, makeProject, type Serving } from '../server.ts'

const SENDERS = 6
const KILLS = 2
/** More than are read at once. */
const MESSAGES = 40

const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
hostname = "mail.example.test"
[inbound]
listen = ["127.0.0.1:0"]
[log]
level = "fatal"
`

test('acknowledged mail is parsed after any number of restarts and failed starts', async (t) => {
  const silent = createSocket('udp4').bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const dns = await startDnsServer()
  t.after(async () => {
    silent.close()
    taken.close()
    await dns.stop()
  })
  const silentDns = `127.0.0.1:${silent.address().port}`
  const inboundListen = (port: number) => `
[inbound]
listen = ["127.0.0.1:${port}"]
[dns]
servers = ["${silentDns}"]
`
  const base = configuration.replace(/\[inbound\]\nlisten = .*\n/, '')
  const installation = await install(t, base + inboundListen(0))
  const configure = (text: string) =>
    writeFile(path.join(installation.folder, 'pillarbox.toml'), text)
  const { id: projectId } = await makeProject(installation)
  let asked = once(silent, 'message')
  let server = await installation.serve()
  const client = await connect(inboundPort(server), { ehlo: 'client.test' })
  const acknowledged: string[] = []
  for (let count = 0; count < MESSAGES; count += 1) {
    assert.equal((await client.open('a@sender.test', 'help@example.test')).code, 354)
    const message = `From: a@sender.test\r\nSubject: Number ${count}\r\n\r\nHello\r\n`
    const { code, text } = await client.data(message)
    assert.equal(code, 250)
    acknowledged.push(text.split(' ').at(-1) ?? '')
  }
  client.close()
  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    // A message is being read.
    await asked
    await server.kill(signal)
    await configure(base + inboundListen((taken.address() as AddressInfo).port))
    await assertStartFails(installation, signal === 'SIGTERM')
    const next = base + inboundListen(0)
    // All of it waits until the second start, which finds an answer to each question.
    await configure(signal === 'SIGTERM' ? next : next.replace(silentDns, dns.address))
    asked = once(silent, 'message')
    server = await installation.serve()
  }
  const rows = await untilRead(installation)
  assert.equal(await server.kill('SIGTERM'), 0)
  const states = acknowledged.map((id) => rows.get(id)?.state)
  assert.deepEqual(
    states,
    acknowledged.map(() => 'processed'),
  )
  assert.equal(await countReceived(installation, projectId), MESSAGES)
})

/** The first time as a process of its own; then here, where a start costs a tenth. */
async function assertStartFails(installation: Installation, isProcess: boolean): Promise<void> {
  const { folder } = installation
  const here = { cwd: folder, env: process.env }
  const { status, text } = isProcess
    ? await installation.attempt('serve').then((failed) => ({ ...failed, text: failed.stderr }))
    : await runAt(here, 'serve').then((failed) => ({ ...failed, text: failed.err }))
  assert.notEqual(status, 0)
  assert.match(text, /EADDRINUSE|already in use/)
}

test('F1: every acknowledged message is still stored after the server is killed', async (t) => {
  const installation = await install(t, configuration)
  await makeProject(installation)
  const seen = new Set<string>()
  for (let round = 0; round < KILLS; round += 1) {
    const server = await installation.serve()
    const senders = Array.from({ length: SENDERS }, () => sendUntilEnd(inboundPort(server), seen))
    while (seen.size < 50 * (round + 1)) await sleep(5)
    await sleep(Math.random() * 100)
    await server.kill('SIGKILL')
    await Promise.all(senders)
  }
  const kept = await listKept(installation)
  t.diagnostic(`${seen.size} acknowledged, ${kept.size} kept`)
  assert.deepEqual(
    [...seen].filter((id) => !kept.has(id)),
    [],
  )
  const [id = ''] = seen
  const { folder } = installation
  const argv = ['--config', path.join(folder, 'pillarbox.toml'), 'inbound', 'show', id]
  const shown = await runAt({ cwd: folder, env: process.env }, ...argv)
  assert.match(shown.out, /^Received: from client\.test [\s\S]*\r\nSubject: to the shop\r\n/)
})

/** The ids of its 250s go into `seen`. */
async function sendUntilEnd(port: number, seen: Set<string>): Promise<void> {
  const client = await connect(port, { ehlo: 'client.test' })
  for (;;) {
    const { code } = await client.open('', 'help@example.test')
    if (code !== 354) return
    const reply = await client.data('Subject: to the shop\r\n\r\nHello\r\n')
    if (reply.code !== 250) return
    seen.add(reply.text.split(' ').at(-1) ?? '')
  }
}

function inboundPort({ inbound }: Serving): number {
  return Number(inbound[0]?.split(':').at(-1))
}

async function withStore<T>(
  { folder }: Installation,
  act: (store: Store) => Promise<T>,
): Promise<T> {
  const file = path.join(folder, 'data/pillarbox.db')
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  try {
    return await act(store)
  } finally {
    await store.close()
  }
}

async function listKept(installation: Installation): Promise<Set<string>> {
  const { id } = inboundMessages
  const rows = await withStore(installation, (store) =>
    store.read.select({ id }).from(inboundMessages),
  )
  return new Set(rows.map((row) => row.id))
}

/** All rows by id, when none waits any more. */
async function untilRead(installation: Installation): Promise<Map<string, { state: string }>> {
  const { id, state } = inboundMessages
  return withStore(installation, async (store) => {
    for (const giveUpAt = performance.now() + PATIENCE_MS; ; ) {
      const rows = await store.read.select({ id, state }).from(inboundMessages)
      if (rows.every((row) => row.state !== 'pending'))
        return new Map(rows.map((row) => [row.id, row]))
      if (performance.now() > giveUpAt) assert.fail('they were never read')
      await sleep(50)
    }
  })
}

function countReceived(installation: Installation, projectId: string): Promise<number> {
  const isIt = and(eq(events.projectId, projectId), eq(events.name, 'email.received'))
  return withStore(installation, (store) => store.read.$count(events, isIt))
}
