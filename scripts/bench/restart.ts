/**
 * `npm run bench:restart`: restarts the server, as systemd does, while clients send and 200 deliveries
 * wait for receivers that answer after five seconds. Required: at most 3 s between the last answer 200
 * and the first, nothing sent twice, nothing lost, no request without an answer. The database has a
 * million delivered emails, or as many as RESTART_EMAILS says.
 */
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { fillDelivered } from './delivered-emails.ts'
import { directConfiguration } from './mail/direct.ts'
import { makeProject } from './mail/sender.ts'
import { type Clients, startClients } from './restart/clients.ts'
import { type Receivers, SLOW_SITES, startReceivers } from './restart/receivers.ts'
import { type Bench, createBench, type Running } from './server.ts'
import { printTable, show } from './table.ts'

const EMAILS = Number(process.env.RESTART_EMAILS ?? 1_000_000)
const IN_HAND = 200
const PER_SITE = 20
const WARM_UP_MS = 2_000
const DEADLINE_MS = 120_000

const receivers = await startReceivers()
const configuration = directConfiguration(receivers.port, receivers.dnsAddress)
  .replace('127.0.0.1:0', `127.0.0.1:${await freePort()}`)
  .replace('[delivery]', '[delivery]\nmax_connections = 400')
const bench = createBench(configuration)
const servers: Running[] = []
try {
  await measure(await makeProject(bench))
} finally {
  for (const { pid } of servers) kill(pid)
  bench.remove()
  await receivers.stop()
}

async function measure(secret: string): Promise<void> {
  fillDelivered(bench.database, EMAILS)
  const first = await serve()
  const slow = await sendSlow(first.url, secret)
  await until(() => receivers.inHand() >= IN_HAND)
  const clients = startClients(first.url, secret)
  await sleep(WARM_UP_MS)
  await until(() => receivers.inHand() >= IN_HAND)
  const inHand = receivers.inHand()
  const stoppedAt = performance.now()
  await first.stop()
  const stopMs = performance.now() - stoppedAt
  const second = await serve()
  await sleep(WARM_UP_MS)
  await clients.stop()
  const ids = [...slow, ...clients.acknowledged.map(({ id }) => id)]
  await untilDelivered(bench)
  await second.stop()
  const readyMs = [first.readyMs, second.readyMs] as const
  report({ ids, clients, receivers }, { inHand, stopMs, readyMs, stoppedAt })
}

async function serve(): Promise<Running> {
  const server = await bench.serve()
  servers.push(server)
  return server
}

/** After a failure of the benchmark; else the process has ended. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    return
  }
}

type Found = { ids: readonly string[]; clients: Clients; receivers: Receivers }
type Times = {
  inHand: number
  stopMs: number
  readyMs: readonly [before: number, after: number]
  stoppedAt: number
}

function report({ ids, clients, receivers: { accepted } }: Found, times: Times): void {
  const after = clients.acknowledged.filter(({ at }) => at >= times.stoppedAt)
  const gaps = after.slice(1).map(({ at }, index) => at - (after[index]?.at ?? at))
  const twice = [...accepted.values()].filter((count) => count > 1).length
  const lost = ids.filter((id) => !accepted.has(id)).length
  printTable([
    [`restart, ${EMAILS} emails`, 'found', 'wanted'],
    ['deliveries in hand at SIGTERM', show(times.inHand), `>= ${IN_HAND}`],
    ['SIGTERM to the end of the process, ms', show(times.stopMs), '< 10000'],
    ['start to ready before, ms', show(times.readyMs[0]), ''],
    ['start to ready after, ms', show(times.readyMs[1]), '< 1000'],
    ['last 200 to first 200, ms', show(Math.max(...gaps)), '< 3000'],
    ['requests without an answer', show(clients.unanswered()), '0'],
    ['emails acknowledged', show(ids.length), ''],
    ['sent twice', show(twice), '0'],
    ['lost', show(lost), '0'],
  ])
}

/** Sends to every slow site; returns the ids of the emails. */
async function sendSlow(url: string, secret: string): Promise<string[]> {
  const sites = Array.from({ length: SLOW_SITES }, (_, site) => site)
  const sent = await Promise.all(
    sites.map(async (site) => {
      const to = Array.from({ length: PER_SITE }, (_, at) => `user${at}@slow${site}.example`)
      const response = await fetch(new URL('/v1/send', url), {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ to, from: 'shop@example.test', subject: 'Hi', body: '<p>Hi</p>' }),
      })
      const { data } = (await response.json()) as { data: { emails: { email: string }[] } }
      return data.emails.map(({ email }) => email)
    }),
  )
  return sent.flat()
}

async function untilDelivered({ database }: Bench): Promise<void> {
  const db = new Database(database, { readonly: true })
  const open = db
    .prepare<[], number>("SELECT count(*) FROM emails WHERE state != 'delivered'")
    .pluck()
  await until(() => open.get() === 0)
  db.close()
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const giveUpAt = performance.now() + DEADLINE_MS; !isTrue(); ) {
    if (performance.now() > giveUpAt)
      throw new Error(`it never came; ${receivers.inHand()} in hand`)
    await sleep(20)
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
