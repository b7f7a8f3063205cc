/**
 * `npm run bench:webhooks`: events that wait when the server starts become deliveries, which it sends to
 * a receiver that takes 20 ms for each: to 20 endpoints, to 20 of which the last never answers, and to one.
 * The rate is that of the requests at the receiver, from the first to the last. Required: 2,000
 * deliveries a second in all, 1,000 to a single endpoint, and for the other 19 endpoints at most 5%
 * less beside one that hangs.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { newId } from '../../src/store/ids.ts'
import { createApi } from './api.ts'
import { makeProject } from './mail/sender.ts'
import { type Bench, createBench, forgetPeak, residentMegabytes } from './server.ts'
import { median, printTable, show } from './table.ts'
import type { ReceiverCounts } from './webhook-receiver.ts'

const ROUNDS = 3
const EVENTS = 20_000
const ENDPOINTS = 20
const PEOPLE = 1_000
const MAX_WAIT_MS = 120_000

const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "sandbox"
[limits]
api_requests_per_minute = 0
[log]
level = "warn"
`

/** `othersPerSecond`: the rate of all endpoints but the last. */
type Measured = { perSecond: number; othersPerSecond: number; cpuUs: number; peakMb: number }
type Plan = { endpoints: number; hangs: boolean }

const plans: Record<string, Plan> = {
  'to 20 endpoints': { endpoints: ENDPOINTS, hangs: false },
  'to 20 endpoints, the last of which hangs': { endpoints: ENDPOINTS, hangs: true },
  'to one endpoint': { endpoints: 1, hangs: false },
}

const results = new Map<string, Measured[]>()
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, plan] of Object.entries(plans)) {
    const measured = await measure(plan)
    results.set(name, [...(results.get(name) ?? []), measured])
    console.error(`${name}: ${show(measured.perSecond)} a second`)
  }
}
const of = (name: string, figure: keyof Measured) =>
  median((results.get(name) ?? []).map((each) => each[figure]))
printTable([
  [
    `${EVENTS} deliveries, medians of ${ROUNDS}`,
    'a second',
    'to the first 19',
    'CPU us each',
    'peak MB',
  ],
  ...Object.keys(plans).map((name) => [
    name,
    show(of(name, 'perSecond')),
    show(of(name, 'othersPerSecond')),
    show(of(name, 'cpuUs')),
    show(of(name, 'peakMb')),
  ]),
])

/** A new database each time, so that no run has the deliveries of another. */
async function measure({ endpoints, hangs }: Plan): Promise<Measured> {
  const bench = createBench(configuration)
  const receiver = fork(path.join(import.meta.dirname, 'webhook-receiver.ts'))
  try {
    const [port] = (await once(receiver, 'message')) as [number]
    const secret = await makeProject(bench)
    await createEndpoints(bench, secret, { port, endpoints, hangs })
    addEvents(bench, endpoints)
    const server = await bench.serve()
    try {
      forgetPeak(server.pid)
      const before = cpuMs(server.pid)
      const total = hangs ? EVENTS - EVENTS / endpoints : EVENTS
      const report = await waitFor(receiver, total)
      const cpu = cpuMs(server.pid) - before
      const last = `/bench/${endpoints - 1}`
      return {
        perSecond: rateOf(report, () => true),
        othersPerSecond: rateOf(report, (url) => url !== last),
        cpuUs: (cpu * 1_000) / total,
        peakMb: residentMegabytes(server.pid).peak,
      }
    } finally {
      await server.stop()
    }
  } finally {
    receiver.kill()
    bench.remove()
  }
}

async function createEndpoints(
  bench: Bench,
  secret: string,
  { port, endpoints, hangs }: Plan & { port: number },
): Promise<void> {
  const server = await bench.serve()
  const api = createApi({ url: server.url, secret })
  const names = Array.from({ length: endpoints }, (_, index) => `bench ${index}`)
  for (const [index, name] of names.entries()) {
    const isHanging = hangs && index === endpoints - 1
    const url = `http://127.0.0.1:${port}/${isHanging ? 'hang' : `bench/${index}`}`
    await api.ask('POST', '/webhooks/endpoints', { url, events: [name] })
  }
  api.close()
  await server.stop()
}

/** One event for each delivery, of people with data. */
function addEvents({ database }: Bench, endpoints: number): void {
  const db = new Database(database)
  const projectId = db.prepare('SELECT id FROM projects WHERE name = ?').pluck().get('Bench')
  const addContact = db.prepare(
    `INSERT INTO contacts (id, project_id, email, data, subscribed, created_at, updated_at)
     VALUES (?, ?, ?, ?, 1, ?, ?)`,
  )
  const addEvent = db.prepare(
    `INSERT INTO events (id, project_id, name, contact_id, data, created_at)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const at = Date.now()
  db.transaction(() => {
    const data = JSON.stringify({ plan: 'pro', firstName: 'Ann', city: 'Berlin' })
    const people = Array.from({ length: PEOPLE }, (_, index) => {
      const id = newId()
      addContact.run(id, projectId, `person${index}@example.org`, data, at, at)
      return id
    })
    for (let index = 0; index < EVENTS; index += 1) {
      const contact = people[index % PEOPLE]
      const order = JSON.stringify({ order: index, total: 49.9, items: ['a book', 'a pen'] })
      addEvent.run(newId(), projectId, `bench ${index % endpoints}`, contact, order, at)
    }
  })()
  db.close()
}

/** Deliveries a second to the paths that fulfil the test. */
function rateOf(report: ReceiverCounts, test: (url: string) => boolean): number {
  const urls = Object.keys(report.counts).filter(test)
  const count = urls.reduce((sum, url) => sum + (report.counts[url] ?? 0), 0)
  const lastAt = Math.max(...urls.map((url) => report.lastAt[url] ?? 0))
  return urls.length === 0 ? Number.NaN : (count / (lastAt - report.firstAt)) * 1_000
}

async function waitFor(receiver: ChildProcess, total: number): Promise<ReceiverCounts> {
  const endsAt = performance.now() + MAX_WAIT_MS
  for (;;) {
    receiver.send('report')
    const [report] = (await once(receiver, 'message')) as [ReceiverCounts]
    const arrived = Object.values(report.counts).reduce((sum, count) => sum + count, 0)
    if (arrived >= total) return report
    if (performance.now() > endsAt) throw new Error(`${arrived} of ${total} deliveries arrived`)
    await sleep(50)
  }
}

/** The time that all threads of a process have used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}
