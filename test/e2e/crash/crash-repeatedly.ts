/**
 * The crash test: a server under load is killed with -9 at random moments, restarted, and in the
 * end every id that it acknowledged has arrived at a sink that counts. An email may arrive twice
 * only where a kill excuses it (`kills.ts`).
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from '../../patience.ts'
import { eventually } from '../program.ts'
import { serveHere } from '../serve-here.ts'
import { installBesideSink, makeProject, post } from '../server.ts'
import { assertExcused, type Kill, noteKill } from './kills.ts'

type Tally = { acknowledged: number; duplicates: number; kills: number }
type Arrival = { id: string }

const SENDERS = 4

/** Each round acknowledges `fewest` before its kill, however slow the machine is. */
export async function crashRepeatedly(
  t: TestContext,
  { kills, sendMs, fewest = 1 }: { kills: number; sendMs: number; fewest?: number },
): Promise<Tally> {
  const arrivals: Arrival[] = []
  const { installation, sink } = await installBesideSink(t, {
    retrySchedule: '1s',
    forgets: true,
    respond: ({ verb, line }) => {
      if (verb === 'MESSAGE') arrivals.push({ id: emailIdOf(line) })
      return undefined
    },
  })
  const { secret } = await makeProject(installation)
  const acknowledged = new Set<string>()
  const killed: Kill[] = []
  for (let round = 0; round < kills; round += 1) {
    const server = await installation.serve()
    const before = acknowledged.size
    const load = startLoad(server.url, secret, acknowledged)
    await eventually(() => (acknowledged.size >= before + fewest ? true : undefined))
    await sleep(100 + Math.random() * sendMs)
    await server.kill('SIGKILL')
    killed.push(await noteKill(installation, { sink, arrivals }))
    await load.stop()
  }
  const server = await serveHere(t, installation)
  await waitForAll(arrivals, acknowledged)
  await server.stop()
  const duplicates = assertExcused(arrivals, killed).size
  return { acknowledged: acknowledged.size, duplicates, kills }
}

function startLoad(url: string, secret: string, acknowledged: Set<string>) {
  let isStopping = false
  const send = async () => {
    while (!isStopping) {
      const request = {
        to: [`u${Math.random()}@dest.test`, 'second@dest.test'],
        from: 'shop@example.test',
        subject: 'Crash',
        body: '<p>Hello {{ email }}</p>',
      }
      const answer = await post(url, secret, request).catch(() => undefined)
      if (answer?.status !== 200) continue
      const { emails } = (answer.body as { data: { emails: { email: string }[] } }).data
      for (const { email } of emails) acknowledged.add(email)
    }
  }
  const senders = Array.from({ length: SENDERS }, send)
  return {
    stop: async () => {
      isStopping = true
      await Promise.all(senders)
    },
  }
}

async function waitForAll(arrivals: Arrival[], acknowledged: Set<string>): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  for (;;) {
    const arrived = new Set(arrivals.map(({ id }) => id))
    const missing = [...acknowledged].filter((id) => !arrived.has(id))
    if (missing.length === 0) return
    if (Date.now() > deadline) assert.fail(`never arrived: ${missing.slice(0, 5).join(', ')} …`)
    await sleep(100)
  }
}

/** The email's id, which is the left side of its Message-ID. */
function emailIdOf(message: string): string {
  return /^message-id: <([0-9a-f-]{36})@/im.exec(message.slice(0, 4_096))?.[1] ?? ''
}
