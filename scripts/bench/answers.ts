/**
 * `npm run bench:answers`: what answers cost that clients do not take. A project has events of 31 KB and
 * events of ordinary size; then, beside sends at 50 a second:
 *
 *   unread     100 clients of 100 addresses ask for a page of 1,000 large events and read nothing
 *   parallel   320 clients of 320 addresses ask for a page of 1,000 ordinary events at once
 *
 * Required: the memory of the server grows by less than 400 MB in both, and its event loop is never held
 * for 100 ms.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LoadResult, makeProject, prose, startLoad } from './mail/sender.ts'
import { createBench, type Running, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

const UNREAD = 100
const PARALLEL = 320
const EVENTS = 1_000
const LARGE_BYTES = 31 * 1024
const SMALL_BYTES = 100
const SENDS_A_SECOND = 50
const UNREAD_MS = 15_000
const MAX_MEGABYTES = 400
const MAX_HOLD_MS = 100

const configuration = `
[http]
listen = "127.0.0.1:0"
max_connections = 1000
[delivery]
mode = "direct"
hostname = "bench.example.test"
[dns]
servers = ["127.0.0.1:9"]
[limits]
api_requests_per_minute = 0
[log]
level = "fatal"
`

type Phase = { megabytes: number; holdMs: number; sends: LoadResult; note: string }

const bench = createBench(configuration)
const secret = await makeProject(bench)
const server = await bench.serve()
try {
  await recordEvents(server, 'large', LARGE_BYTES)
  await recordEvents(server, 'small', SMALL_BYTES)
  const idle = await during(server, async () => {
    await sleep(5_000)
    return ''
  })
  const unread = await during(server, () => leaveUnread(server))
  const parallel = await during(server, () => readAll(server))
  printTable([
    ['', 'memory MB', 'loop held ms', 'send p50 ms', 'send p99 ms', ''],
    row('sends alone', idle),
    row(`${UNREAD} unread answers`, unread),
    row(`${PARALLEL} pages at once`, parallel),
  ])
  const phases = [unread, parallel]
  const isWithin = phases.every(
    ({ megabytes, holdMs }) => megabytes < MAX_MEGABYTES && holdMs < MAX_HOLD_MS,
  )
  if (!isWithin) process.exitCode = 1
} finally {
  await server.stop()
  bench.remove()
}

function row(name: string, { megabytes, holdMs, sends, note }: Phase): string[] {
  const [memory, hold] = [show(megabytes, 0), show(holdMs, 1)]
  return [name, `+${memory}`, hold, show(sends.p50Ms, 1), show(sends.p99Ms, 1), note]
}

/** Runs `act` beside sends. */
async function during(running: Running, act: () => Promise<string>): Promise<Phase> {
  const body = JSON.stringify({
    ...{ to: 'user@@@example.org', from: 'shop@example.test', subject: 'Your order @@' },
    body: prose(2_048),
  })
  const target = { url: running.url, secret, body, from: Math.floor(performance.now()) * 1_000 }
  const load = await startLoad({ ...target, connections: 5, perSecond: SENDS_A_SECOND })
  await sleep(1_000)
  await findHoldMs(running)
  const before = residentMegabytes(running.pid).now
  let [peak, holdMs, isOver] = [before, 0, false]
  const watching = (async () => {
    while (!isOver) {
      peak = Math.max(peak, residentMegabytes(running.pid).now)
      await sleep(50)
    }
  })()
  const note = await act()
  holdMs = await findHoldMs(running)
  isOver = true
  await watching
  return { megabytes: peak - before, holdMs, sends: await load.stop(), note }
}

/** The longest time since the last call in which the event loop did nothing else. */
async function findHoldMs({ url }: Running): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const [, seconds] = /^pillarbox_event_loop_delay_max_seconds (\S+)$/m.exec(text) ?? []
  return Number(seconds) * 1_000
}

async function recordEvents({ url }: Running, event: string, bytes: number): Promise<void> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  for (let from = 0; from < EVENTS; from += 20) {
    const batch = Array.from({ length: 20 }, (_, index) => {
      const data = { text: `${from + index} ${'x'.repeat(bytes)}` }
      const body = JSON.stringify({ event, email: `user${from + index}@example.org`, data })
      return fetch(`${url}/v1/track`, { method: 'POST', headers, body })
    })
    for (const response of await Promise.all(batch)) {
      if (response.status !== 200) throw new Error(`an event was refused with ${response.status}`)
      await response.text()
    }
  }
}

/** Each client has an address of its own in 127.0.0.0/8. */
async function ask({ url }: Running, client: number, event: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const localAddress = `127.1.${Math.floor(client / 200)}.${(client % 200) + 1}`
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const path = `/events?limit=1000&eventName=${event}`
  const head = `Host: bench\r\nAuthorization: Bearer ${secret}\r\nConnection: close`
  socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`)
  return socket
}

async function leaveUnread(running: Running): Promise<string> {
  const clients = Array.from({ length: UNREAD }, (_, client) => ask(running, client, 'large'))
  const sockets = await Promise.all(clients)
  for (const socket of sockets) socket.pause()
  await sleep(UNREAD_MS)
  for (const socket of sockets) socket.destroy()
  return ''
}

/** Reads every answer to its end. */
async function readAll(running: Running): Promise<string> {
  const from = performance.now()
  const clients = Array.from({ length: PARALLEL }, async (_, client) => {
    const socket = await ask(running, client, 'small')
    let status = ''
    socket.on('data', (piece: Buffer) => {
      status ||= piece.toString('latin1', 9, 12)
    })
    await once(socket, 'close')
    return status
  })
  const statuses = await Promise.all(clients)
  const good = statuses.filter((status) => status === '200').length
  return `${good} of ${PARALLEL} in ${show((performance.now() - from) / 1_000, 1)} s`
}
