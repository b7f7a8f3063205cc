import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../src/log.ts'
import { inboundMessages } from '../../src/store/schema.ts'
import { openStore } from '../../src/store/store.ts'
import { connect } from '../inbound/dialogue.ts'
import { type Installation, install } from './server.ts'

const SENDERS = 6
const KILLS = 2

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

test('F1: every message whose 250 was seen is there after the server was killed', async (t) => {
  const installation = await install(t, configuration)
  const seen = new Set<string>()
  for (let round = 0; round < KILLS; round += 1) {
    const server = await installation.serve()
    const port = Number(server.inbound[0]?.split(':').at(-1))
    const senders = Array.from({ length: SENDERS }, () => sendUntilEnd(port, seen))
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
  const shown = await installation.attempt('inbound', 'show', id)
  assert.match(shown.stdout, /^Received: from client\.test [\s\S]*\r\nSubject: to the operator\r\n/)
})

/** The ids of its 250s go into `seen`. */
async function sendUntilEnd(port: number, seen: Set<string>): Promise<void> {
  const client = await connect(port, { ehlo: 'client.test' })
  for (;;) {
    const { code } = await client.open('', 'postmaster')
    if (code !== 354) return
    const reply = await client.data('Subject: to the operator\r\n\r\nHello\r\n')
    if (reply.code !== 250) return
    seen.add(reply.text.split(' ').at(-1) ?? '')
  }
}

async function listKept({ folder }: Installation): Promise<Set<string>> {
  const file = path.join(folder, 'data/pillarbox.db')
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  const rows = await store.read.select({ id: inboundMessages.id }).from(inboundMessages)
  await store.close()
  return new Set(rows.map(({ id }) => id))
}
