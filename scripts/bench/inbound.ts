/**
 * `npm run bench:inbound`: sends bounces of sent emails over 20 SMTP sessions, at 500 per second and
 * as fast as possible. The server accepts each bounce durably, then reads and applies it. Required: 500
 * per second with a p99 of the 250 reply below 250 ms, and no growing backlog.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { createKeyring } from '../../src/config/keyring.ts'
import { createReturnPathLocalPart } from '../../src/formats/signed-tokens.ts'
import { bounceReport } from './inbound-report.ts'
import { makeProject, runLoad } from './mail/sender.ts'
import { createBench, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

type Bounce = { id: string; to: string; returnPath: string }

export type InboundLoadRequest = {
  port: number
  connections: number
  /** Null: as fast as possible. */
  perSecond: number | null
  bounces: Bounce[]
  /** The template of a bounce, with `@@ID@@` and `@@TO@@`. */
  message: string
}

export type InboundLoadResult = {
  accepted: number
  refused: number
  perSecond: number
  p50Ms: number
  p99Ms: number
}

type Round = InboundLoadResult & { backlog: number; drainMs: number }

const PER_SECOND = 500
const CONNECTIONS = 20
/** The number of bounces in a round. */
const BOUNCES = 10_000
const HOSTNAME = 'bench.example.test'
const SECRET = 'the secret of the benchmark, which is long enough'

const configuration = `
secret = "${SECRET}"
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "direct"
hostname = "${HOSTNAME}"
[dns]
servers = ["127.0.0.1:9"]
[inbound]
listen = ["127.0.0.1:0"]
[security]
auto_disable = false
[limits]
api_requests_per_minute = 0
[log]
level = "error"
`

const bench = createBench(configuration)
try {
  await sendAll()
  markDelivered()
  const bounces = listBounces()
  const server = await bench.serve()
  try {
    const port = Number(server.inbound[0]?.split(':').at(-1))
    const load = { port, connections: CONNECTIONS, message: bounceReport }
    const steady = { ...load, perSecond: PER_SECOND, bounces: bounces.slice(0, BOUNCES) }
    const atPace = await measure(steady)
    const burst = { ...load, perSecond: null, bounces: bounces.slice(BOUNCES) }
    const atOnce = await measure(burst)
    checkApplied()
    const row = (name: string, round: Round) => [
      name,
      show(round.perSecond),
      show(round.p50Ms, 1),
      show(round.p99Ms, 1),
      show(round.backlog),
      show(round.drainMs / 1_000, 1),
    ]
    printTable([
      [`${BOUNCES} bounces each`, 'accepted/s', 'p50 ms', 'p99 ms', 'backlog', 'drained s'],
      row(`${PER_SECOND} a second, ${CONNECTIONS} sessions`, atPace),
      row(`as fast as they go, ${CONNECTIONS} sessions`, atOnce),
    ])
    console.log(`peak ${show(residentMegabytes(server.pid).peak)} MB`)
  } finally {
    await server.stop()
  }
} finally {
  bench.remove()
}

/** Creates a held email for each bounce. */
async function sendAll(): Promise<void> {
  const secret = await makeProject(bench)
  await bench.command('queue', 'hold', '--domain', 'example.org')
  const server = await bench.serve()
  const body = {
    to: 'user@@@example.org',
    from: 'shop@example.test',
    subject: 'Your order',
    body: '<p>Your order has left our house today and should reach you.</p>',
  }
  const request = { url: server.url, secret, connections: 20, from: 0, body: JSON.stringify(body) }
  const { refused } = await runLoad({ ...request, requests: 2 * BOUNCES })
  await server.stop()
  if (refused > 0) throw new Error(`${refused} requests were refused`)
}

function withDatabase<T>(act: (database: Database.Database) => T): T {
  const database = new Database(bench.database)
  try {
    return act(database)
  } finally {
    database.close()
  }
}

/** Marks the emails as delivered in the database. */
function markDelivered(): void {
  withDatabase((database) =>
    database.exec(`update emails set state = 'delivered', status = 'DELIVERED', shelf = null, due_at = null,
      lease_until = null, sent_at = created_at, delivered_at = created_at`),
  )
}

function listBounces(): Bounce[] {
  const [key] = createKeyring(SECRET).keys('return-path')
  const rows = withDatabase((database) =>
    database.prepare('select id, recipient as "to" from emails order by id').all(),
  ) as { id: string; to: string }[]
  return rows.map(({ id, to }) => {
    const localPart = createReturnPathLocalPart(key, id)
    return { id, to, returnPath: `${localPart}@bounce.${HOSTNAME}` }
  })
}

/** Runs the load in its own process and measures the backlog of unread mail meanwhile. */
async function measure(request: InboundLoadRequest): Promise<Round> {
  const child = fork(path.join(import.meta.dirname, 'inbound-load.ts'), {
    serialization: 'advanced',
  })
  child.send(request)
  let result: InboundLoadResult | undefined
  const loaded = once(child, 'message').then(([message]) => {
    result = message as InboundLoadResult
  })
  let backlog = 0
  while (result === undefined) {
    backlog = Math.max(backlog, countPending())
    await Promise.race([loaded, sleep(250)])
  }
  child.kill()
  const loadedAt = performance.now()
  while (countPending() > 0) await sleep(50)
  const drainMs = performance.now() - loadedAt
  if (result.refused > 0) throw new Error(`${result.refused} messages were refused`)
  return { ...result, backlog, drainMs }
}

function countPending(): number {
  return withDatabase((database) =>
    database.prepare(`select count(*) from inbound_messages where state = 'pending'`).pluck().get(),
  ) as number
}

function checkApplied(): void {
  const bounced = withDatabase((database) =>
    database.prepare(`select count(*) from emails where status = 'BOUNCED'`).pluck().get(),
  )
  if (bounced !== 2 * BOUNCES) throw new Error(`only ${bounced} of ${2 * BOUNCES} have bounced`)
}
