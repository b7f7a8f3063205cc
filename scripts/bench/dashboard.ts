/**
 * `npm run bench:dashboard`: the dashboard in Chromium beside the real server on the seeded database, against the budgets
 * of its design. Times are measured with a processor four times as slow, as the budgets want; beside them stands the
 * processor time, which other work on the machine does not change.
 *
 *   -- --emails 10000   a smaller database (5,000,000 emails)
 *   -- --rounds 3       visits of each screen (9); twice as many searches and changes of the screen
 *   -- --source         the sources in place of the executable
 *   -- load list routes calls idle   only these parts
 *
 * Exit status 1 if a measure is over its limit.
 */
import { statSync } from 'node:fs'
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type Database from 'better-sqlite3'
import { buildDashboard } from '../dashboard/build.ts'
import { startVisitor, type Visitor } from './dashboard/browser.ts'
import { measureCalls, recordCalls } from './dashboard/calls.ts'
import { measureEmailsList } from './dashboard/emails-list.ts'
import { measureFirstLoad } from './dashboard/first-load.ts'
import { measureIdle } from './dashboard/idle.ts'
import { type Measure, printMeasures } from './dashboard/report.ts'
import { measureRoutes } from './dashboard/routes.ts'
import { type SeededServer, withSeededServer } from './seeded-server.ts'
import { fullSize, type Size } from './seeding/plan.ts'
import { findExecutable, residentMegabytes } from './server.ts'
import { show } from './table.ts'

const MB = 1024 * 1024
const CALLS = 100
const COUNTED_EVENTS = 20_000
const SCROLLED_ROWS = 5_000
const NAME_PARTS = ['news', 'order', 'active', 'big', 'pro', 'zzqx']

const emails = readCount('emails', fullSize.emails)
const rounds = readCount('rounds', 9)
/** Changes to each screen, and searches. */
const turns = 2 * rounds + 2
const share = emails / fullSize.emails
const size: Size = {
  contacts: Math.max(500, Math.round(fullSize.contacts * share)),
  events: Math.round(fullSize.events * share),
  emails,
}
const parts = ['load', 'list', 'routes', 'calls', 'idle'] as const
const chosen = process.argv.slice(2).filter((name) => (parts as readonly string[]).includes(name))
const isWanted = (part: (typeof parts)[number]) => chosen.length === 0 || chosen.includes(part)

const isSource = process.argv.includes('--source')
if (isSource) await buildDashboard()
await withSeededServer(run, { size, change: forgetCounts })

async function run(seeded: SeededServer): Promise<void> {
  const { server, query } = seeded
  await untilCounted(seeded)
  const project = query((database) =>
    database.prepare(`select id from projects where name = 'big'`).pluck().get(),
  ) as string
  const loads = [loadavg()[0] ?? 0]
  const before = residentMegabytes(server.pid)
  const visitor = await startVisitor(server.url, project)
  const measures: Measure[] = []
  try {
    await measureAll(seeded, visitor, measures)
  } catch (error) {
    printMeasures(measures)
    throw error
  } finally {
    await visitor.close()
  }
  const after = residentMegabytes(server.pid)
  loads.push(loadavg()[0] ?? 0)
  const memory = {
    unit: 'MB',
    more: `${show(before.now)} before the first page, peak ${show(after.peak)}`,
  }
  measures.push({ name: 'server: resident memory after all', value: after.now, ...memory })
  if (!isSource) {
    const value = statSync(findExecutable()).size / MB
    measures.push({ name: 'the executable', value, unit: 'MB', digits: 1 })
  }
  console.log(
    `${emails} emails; load of the machine ${loads.map((load) => show(load, 1)).join(', then ')}`,
  )
  if (!printMeasures(measures)) process.exitCode = 1
}

async function measureAll(
  { server, query }: SeededServer,
  visitor: Visitor,
  measures: Measure[],
): Promise<void> {
  const add = async (name: string, measuring: Promise<Measure[]>) => {
    process.stderr.write(`${name}\n`)
    measures.push(...(await measuring))
  }
  const known = query((database) => listKnown(database, visitor.project))
  const calls = await recordCalls(visitor, '')
  if (isWanted('load')) await add('first load', measureFirstLoad(visitor, rounds))
  if (isWanted('list')) {
    const searches = known.map(({ recipient }) => recipient.replace(/@.*/, ''))
    const wanted = { rounds, rows: Math.min(SCROLLED_ROWS, emails / 2), searches }
    await add('list of emails', measureEmailsList(visitor, wanted))
  }
  if (isWanted('routes')) await add('routes', measureRoutes(visitor, turns))
  if (isWanted('calls')) {
    const searches = {
      'beginning of an address': known.map(({ recipient }) => recipient.slice(0, 6)),
      'part of a name': NAME_PARTS,
      'id of an email': known.map(({ id }) => id),
    }
    await add('calls', measureCalls(visitor, calls, { times: CALLS, searches, pid: server.pid }))
  }
  if (isWanted('idle')) await add('idle tabs', measureIdle(visitor, server.pid))
}

/** Emails from all of the time that the database has. */
function listKnown(database: Database.Database, project: string) {
  // The sign keeps SQLite from an index on the project, after which it would sort all emails.
  const found = database.prepare(
    `select id, recipient from emails where +project_id = ? and rowid > ? order by rowid limit 1`,
  )
  return Array.from({ length: turns }, (_, index) =>
    found.get(project, Math.floor((emails * index) / turns)),
  ) as { id: string; recipient: string }[]
}

/**
 * The newest events count for analytics while the benchmark waits, so that the overview has figures. What calls of
 * analytics cost when all have counted is measured by `bench:analytics`.
 */
function forgetCounts(database: Database.Database): void {
  // The mark of an upgrade goes too: what it marks is counted with long rests.
  database
    .prepare(
      `update event_followers set seq = max(0, seq - ?)
        where name in ('analytics', 'analytics-backfill')`,
    )
    .run(COUNTED_EVENTS)
}

async function untilCounted({ query }: SeededServer): Promise<void> {
  process.stderr.write('counting the mail of the project\n')
  const lag = `select (select max(seq) from events) - seq from event_followers where name = 'analytics'`
  while (Number(query((database) => database.prepare(lag).pluck().get())) > 0) await sleep(500)
}

/** A whole number that an option gives. */
function readCount(option: string, absent: number): number {
  const at = process.argv.indexOf(`--${option}`)
  const given = at === -1 ? absent : Number(process.argv[at + 1])
  if (Number.isInteger(given) && given > 0) return given
  throw new Error(`--${option}: expected a whole number above 0`)
}
