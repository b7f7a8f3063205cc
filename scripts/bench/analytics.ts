/**
 * `npm run bench:analytics`: one project with 5 M emails and 20 M events of 100 days (`EMAILS`, `EVENTS`
 * in the environment for less). Measures the start, the first count of an older database, and every call
 * of analytics as the first one after a start, each while the project sends 50 emails a second.
 *
 * Required: start-up unchanged; each call below 300 ms; a p99 of POST /v1/send below 100 ms.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { DAY_MS } from '../../src/base/clock.ts'
import { fillAnalytics } from './analytics/fill.ts'
import { type Plan, readPlan } from './analytics/plan.ts'
import { createApi } from './api.ts'
import { type LoadResult, makeProject, prose, startLoad } from './mail/sender.ts'
import { type Bench, createBench, type Running, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'

const WARM_UP_MS = 3_000
/** Sends without the first count, to compare with. */
const COMPARED_MS = 15_000
const RANGE_DAYS = 90
const configuration = `
[http]
listen = "127.0.0.1:0"
[delivery]
mode = "sandbox"
[security]
auto_disable = false
[limits]
api_requests_per_minute = 0
[log]
level = "warn"
`

/** The calls, by the names of the report. */
function callsOf({ until }: Plan): [name: string, path: string][] {
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  const [from, to] = [dayOf(until - (RANGE_DAYS - 1) * DAY_MS), dayOf(until)]
  const newer = (path: string, more = '') => {
    return `/analytics/${path}?from=${from}&to=${to}&tz=Asia%2FKathmandu${more}`
  }
  const older = (path: string) => `${path}?startDate=${from}&endDate=${to}`
  return [
    ['overview', newer('overview')],
    ['overview, one stream', newer('overview', '&stream=CAMPAIGN')],
    ['timeseries, days', newer('timeseries', '&granularity=day')],
    [
      'timeseries, hours of two days',
      `/analytics/timeseries?from=${dayOf(until - DAY_MS)}&to=${to}&tz=Asia%2FKathmandu&granularity=hour`,
    ],
    ['deliverability', newer('deliverability')],
    ['leaderboard, campaigns', newer('leaderboard', '&kind=campaigns')],
    ['leaderboard, templates', newer('leaderboard', '&kind=templates')],
    ['leaderboard, workflows', newer('leaderboard', '&kind=workflows')],
    ['links', newer('links')],
    ['events', newer('events')],
    ['timeseries (older)', older('/analytics/timeseries')],
    ['top-campaigns', older('/analytics/top-campaigns')],
    ['campaign-stats', older('/analytics/campaign-stats')],
    ['top-events', older('/analytics/top-events')],
    ['activity/stats', older('/activity/stats')],
  ]
}

type Measured = {
  name: string
  status: number
  firstMs: number
  againMs: number
  sends: LoadResult
}

const plan = readPlan(process.env, Date.now())
const bench = createBench(configuration)
try {
  const secret = await makeProject(bench)
  const events = fillAnalytics(bench.database, findProject(bench), plan)
  console.log(`${plan.emails} emails, ${events} events`)
  await measureCounting(bench, { secret, events })
  const results: Measured[] = []
  for (const [name, path] of callsOf(plan)) {
    results.push(await measureCall(bench, { secret, name, path }))
  }
  printTable([
    [
      'call, 90 days, Asia/Kathmandu',
      'status',
      'first ms',
      'again ms',
      'send p50 ms',
      'send p99 ms',
    ],
    ...results.map(({ name, status, firstMs, againMs, sends }) => [
      ...[name, show(status), show(firstMs), show(againMs)],
      ...[show(sends.p50Ms, 1), show(sends.p99Ms, 1)],
    ]),
  ])
} finally {
  bench.remove()
}

function findProject({ database }: Bench): string {
  return query(database, (db) => db.prepare('select id from projects').pluck().get() as string)
}

function query<T>(file: string, read: (db: Database.Database) => T): T {
  const database = new Database(file, { readonly: true })
  try {
    return read(database)
  } finally {
    database.close()
  }
}

/** The time until the counts are complete. */
async function measureCounting(
  { serve, database }: Bench,
  { secret, events }: { secret: string; events: number },
): Promise<void> {
  const server = await serve()
  try {
    const load = await startSends(server, secret)
    const begunAt = performance.now()
    while (!query(database, isComplete)) await sleep(1_000)
    const seconds = (performance.now() - begunAt) / 1_000
    const sends = await load.stop()
    const rows = query(database, countRows)
    const later = await startSends(server, secret)
    await sleep(COMPARED_MS)
    const after = await later.stop()
    printTable([
      [
        ...['ready ms', 'first count s', 'events/s', 'p50 ms', 'p99 ms', 'refused'],
        ...['p50 ms after', 'p99 ms after', 'peak MB', 'rows'],
      ],
      [
        ...[show(server.readyMs), show(seconds), show(events / seconds)],
        ...[show(sends.p50Ms, 1), show(sends.p99Ms, 1), show(sends.refused)],
        ...[show(after.p50Ms, 1), show(after.p99Ms, 1)],
        ...[show(residentMegabytes(server.pid).peak), show(rows)],
      ],
    ])
  } finally {
    await server.stop()
  }
}

function isComplete(db: Database.Database): boolean {
  const seqOf = db.prepare('select seq from event_followers where name = ?').pluck()
  return Number(seqOf.get('analytics')) >= Number(seqOf.get('analytics-backfill'))
}

/** Of the stored counts. */
function countRows(db: Database.Database): number {
  const counts = ['mail_counts', 'link_counts', 'event_counts']
  const countOf = (table: string) =>
    Number(db.prepare(`select count(*) from ${table}`).pluck().get())
  return counts.reduce((sum, table) => sum + countOf(table), 0)
}

async function measureCall(
  { serve }: Bench,
  { secret, name, path }: { secret: string; name: string; path: string },
): Promise<Measured> {
  const server = await serve()
  const api = createApi({ url: server.url, secret })
  try {
    const load = await startSends(server, secret)
    await sleep(WARM_UP_MS)
    const first = await api.call('GET', path)
    const again = await api.call('GET', path)
    const sends = await load.stop()
    return { name, status: first.status, firstMs: first.ms, againMs: again.ms, sends }
  } finally {
    api.close()
    await server.stop()
  }
}

function startSends({ url }: Running, secret: string) {
  return startLoad({
    ...{ url, secret, connections: 5, perSecond: 50, from: 0 },
    body: JSON.stringify({
      ...{ to: 'reader@@@people.test', from: 'shop@example.test', subject: 'Hello' },
      body: prose(2_048),
    }),
  })
}
