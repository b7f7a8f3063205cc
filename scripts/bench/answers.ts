/**
 * `npm run bench:answers`: what answers cost that clients do not take. A project has events of 31 KB and
 * events of ordinary size; then, beside sends at 50 a second:
 *
 *   unread     100 clients of 100 addresses ask for a page of 1,000 large events and read nothing
 *   templates  as many ask for a page of templates by number, which has 50 MB, and read nothing
 *   parallel   320 clients of 320 addresses ask for a page of 1,000 ordinary events at once
 *
 * Required: the memory of the server grows by less than 400 MB in each, and its event loop is never held
 * for 100 ms: by the clock, or from the sources (`-- --source`), where the processor time of the loop is
 * known, by that, because on a machine with other load the clock says more about the others.
 */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type LoadResult, makeProject, prose, startLoad } from './mail/sender.ts'
import { createBench, directConfiguration, type Running, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

const UNREAD = 100
const PARALLEL = 320
const EVENTS = 1_000
const LARGE_BYTES = 31 * 1024
const SMALL_BYTES = 100
const TEMPLATES = 100
const TEMPLATE_BYTES = 500_000
const SENDS_A_SECOND = 50
const UNREAD_MS = 10_000
const MAX_MEGABYTES = 400
const MAX_HOLD_MS = 100

const configuration = directConfiguration({ logLevel: 'fatal', http: 'max_connections = 1000' })

type Phase = {
  megabytes: number
  holdMs: number
  /** Of the processor. */
  turnMs: number | undefined
  sends: LoadResult
  note: string
}

const bench = createBench(configuration)
const secret = await makeProject(bench)
const server = await bench.serve()
try {
  await recordEvents(server, 'large', LARGE_BYTES)
  await recordEvents(server, 'small', SMALL_BYTES)
  await createTemplates(server)
  const idle = await during(server, async () => {
    await sleep(5_000)
    return ''
  })
  const large = '/events?limit=1000&eventName=large'
  const unread = await during(server, () => leaveUnread(server, large))
  const templates = await during(server, () =>
    leaveUnread(server, '/templates?page=1&pageSize=100'),
  )
  const parallel = await during(server, () => readAll(server))
  printTable([
    ['', 'memory MB', 'loop held ms', 'of it busy ms', 'send p50 ms', 'send p99 ms', ''],
    row('sends alone', idle),
    row(`${UNREAD} unread pages of 2 MB`, unread),
    row(`${UNREAD} unread lists of 50 MB`, templates),
    row(`${PARALLEL} pages at once`, parallel),
  ])
  const phases = [unread, templates, parallel]
  const isWithin = phases.every(
    ({ megabytes, holdMs, turnMs = holdMs }) => megabytes < MAX_MEGABYTES && turnMs < MAX_HOLD_MS,
  )
  if (!isWithin) process.exitCode = 1
} finally {
  await server.stop()
  bench.remove()
}

function row(name: string, { megabytes, holdMs, turnMs, sends, note }: Phase): string[] {
  const [memory, hold] = [show(megabytes, 0), show(holdMs, 1)]
  const busy = turnMs === undefined ? '-' : show(turnMs, 1)
  return [name, `+${memory}`, hold, busy, show(sends.p50Ms, 1), show(sends.p99Ms, 1), note]
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
  const from = Date.now()
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
  const turnMs = bench.findTurnMs(from)
  return { megabytes: peak - before, holdMs, turnMs, sends: await load.stop(), note }
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

async function createTemplates({ url }: Running): Promise<void> {
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  for (let number = 0; number < TEMPLATES; number += 1) {
    const named = { name: `${number}`, subject: 'Hello', from: 'shop@example.test' }
    const body = JSON.stringify({ ...named, body: `<p>${'x'.repeat(TEMPLATE_BYTES)}</p>` })
    const response = await fetch(`${url}/templates`, { method: 'POST', headers, body })
    if (response.status !== 201) throw new Error(`a template was refused with ${response.status}`)
    await response.text()
  }
}

/** Each client has an address of its own in 127.0.0.0/8. */
async function ask({ url }: Running, client: number, path: string): Promise<Socket> {
  const { hostname, port } = new URL(url)
  const localAddress = `127.1.${Math.floor(client / 200)}.${(client % 200) + 1}`
  const socket = connect({ host: hostname, port: Number(port), localAddress })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const head = `Host: bench\r\nAuthorization: Bearer ${secret}\r\nConnection: close`
  socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`)
  return socket
}

async function leaveUnread(running: Running, path: string): Promise<string> {
  const clients = Array.from({ length: UNREAD }, (_, client) => ask(running, client, path))
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
    const socket = await ask(running, client, '/events?limit=1000&eventName=small')
    let status = ''
    socket.on('data', (piece: Buffer) => {
      status ||= piece.toString('latin1', 9, 12)
    })
    await once(socket, 'close')
    return status
  })
  const statuses = await Promise.all(clients)
  const counts = Map.groupBy(statuses, (status) => status)
  const found = [...counts].map(([status, { length }]) => `${length} x ${status}`)
  return `${found.join(', ')} in ${show((performance.now() - from) / 1_000, 1)} s`
}
