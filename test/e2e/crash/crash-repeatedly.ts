/**
 * The crash test: a server under load is killed with -9 at random moments, restarted, and in the
 * end every id that it acknowledged has arrived at a sink that counts. An email may arrive twice
 * only where its final dot was under way when the server died.
 */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from '../../patience.ts'
import { eventually } from '../program.ts'
import { installBesideSink, makeProject, post } from '../server.ts'

type Tally = { acknowledged: number; duplicates: number; kills: number }
type Arrival = { id: string; at: number }

const SENDERS = 4
/** So long before a kill a final dot may have been under way, on a machine that is busy. */
const IN_FLIGHT_MS = 500

export async function crashRepeatedly(
  t: TestContext,
  { kills, sendMs }: { kills: number; sendMs: number },
): Promise<Tally> {
  const arrivals: Arrival[] = []
  const { installation } = await installBesideSink(t, {
    retrySchedule: '1s',
    forgets: true,
    respond: ({ verb, line }) => {
      if (verb === 'MESSAGE') arrivals.push({ id: emailIdOf(line), at: performance.now() })
      return undefined
    },
  })
  const { secret } = await makeProject(installation)
  const acknowledged = new Set<string>()
  const killedAt: number[] = []
  for (let round = 0; round < kills; round += 1) {
    const server = await installation.serve()
    const before = acknowledged.size
    const load = startLoad(server.url, secret, acknowledged)
    await eventually(() => (acknowledged.size > before ? true : undefined))
    await sleep(100 + Math.random() * sendMs)
    killedAt.push(performance.now())
    await server.kill('SIGKILL')
    await load.stop()
  }
  const server = await installation.serve()
  await waitForAll(arrivals, acknowledged)
  assert.equal(await server.kill('SIGTERM'), 0)
  const duplicates = findDuplicates(arrivals)
  for (const { id, at } of duplicates) {
    const isExcused = killedAt.some((kill) => at < kill + IN_FLIGHT_MS && at > kill - IN_FLIGHT_MS)
    assert.ok(isExcused, `${id} arrived twice, and no final dot was under way`)
  }
  return { acknowledged: acknowledged.size, duplicates: duplicates.length, kills }
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

/** The first arrival of each message that came more than once. */
function findDuplicates(arrivals: Arrival[]): Arrival[] {
  const byId = Map.groupBy(arrivals, ({ id }) => id)
  return [...byId.values()].flatMap(([first, second]) =>
    first === undefined || second === undefined ? [] : [first],
  )
}
