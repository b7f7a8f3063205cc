/**
 * `npm run bench:workflow [-- --rate N] [--executions N] [--at-once N] [--only events,sleepers]`: measures
 * workflows while the tables hold a million sleeping executions.
 *
 *   events     100,000 events of different contacts, `--rate` a second (1,200), each starting a
 *              workflow of five steps: two conditions, an update, an email, an exit; mail is held.
 *              Required: 1,000 a second from POST /v1/track to the last execution, 0.25 of POST
 *              /v1/track alone, a p99 of POST /v1/track below 100 ms.
 *   sleepers   Required: ready within 700 ms, idle below 1% of a processor, 10,000 due at once within
 *              10 s, a single one begun within 1 s, the stats of a workflow within 300 ms.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import Database from 'better-sqlite3'
import { type Api, createApi } from './api.ts'
import { makeProject, runLoad } from './mail/sender.ts'
import { createBench, directConfiguration, type Running, residentMegabytes } from './server.ts'
import { printTable, show } from './table.ts'
import { type Made, makeFiveSteps, makeWorkflow } from './workflow/make.ts'
import { addSleepers, wakeSleepers } from './workflow/sleepers.ts'

const { values: options } = parseArgs({
  strict: false,
  options: {
    rate: { type: 'string', default: '1200' },
    events: { type: 'string', default: '100000' },
    executions: { type: 'string', default: '1000000' },
    'at-once': { type: 'string', default: '10000' },
    only: { type: 'string', default: 'events,sleepers' },
  },
})
const RATE = Number(options.rate)
const EVENTS = Number(options.events)
const SLEEPERS = Number(options.executions)
const ALONE = 20_000
const IDLE_MS = 20_000
const AT_ONCE = Number(options['at-once'])
const SINGLES = 20

const configuration = directConfiguration({ logLevel: 'warn' })

const bench = createBench(configuration)
const secret = await makeProject(bench)
await bench.command('queue', 'hold', '--domain', 'example.org')
const rows: string[][] = [['workflow', 'found', 'wanted']]
try {
  const made = await makeWorkflows()
  addSleepers(bench.database, {
    projectId: made.projectId,
    workflowId: made.sleeping.id,
    triggerId: made.sleeping.stepIds.trigger ?? '',
    delayId: made.sleeping.stepIds.nap ?? '',
    count: SLEEPERS,
    dueAt: Date.now() + 7 * 86_400_000,
  })
  const server = await bench.serve()
  const api = createApi({ url: server.url, secret })
  try {
    const parts = String(options.only).split(',')
    rows.push([`ready with ${show(SLEEPERS)} executions, ms`, show(server.readyMs), '< 700'])
    if (parts.includes('sleepers')) await measureSleepers(server, api, made)
    if (parts.includes('events')) await measureEvents(server, made)
    const memory = residentMegabytes(server.pid)
    rows.push(['peak memory, MB', show(memory.peak), ''])
  } finally {
    api.close()
    await server.stop()
  }
  printTable(rows)
} finally {
  bench.remove()
}

async function makeWorkflows() {
  const server = await bench.serve()
  const api = createApi({ url: server.url, secret })
  const five = await makeFiveSteps(api)
  const sleeping = await makeWorkflow(api, 'Sleepers', 'sleep', {
    steps: {
      nap: { type: 'DELAY', config: { amount: 7, unit: 'days' } },
      mark: { type: 'UPDATE_CONTACT', config: { updates: { rested: true } } },
      out: { type: 'EXIT', config: {} },
    },
    transitions: [
      ['trigger', 'nap'],
      ['nap', 'mark'],
      ['mark', 'out'],
    ],
  })
  const projectId = query<{ id: string }>('SELECT id FROM projects').id
  api.close()
  await server.stop()
  return { five, sleeping, projectId }
}

async function measureEvents(server: Running, { five }: { five: Made }): Promise<void> {
  const load = { url: server.url, secret, path: '/v1/track', connections: 50 }
  const body = (event: string) =>
    JSON.stringify({
      event,
      email: `${event}@@@example.org`,
      data: { name: 'Ada @@', plan: { value: 'pro', persistent: false }, seats: 5 },
    })
  const alone = await runLoad({ ...load, body: body('visit'), requests: ALONE, from: 0 })
  const cpuBefore = cpuSeconds(server.pid)
  const begunAt = Date.now()
  const tracked = await runLoad({
    ...{ ...load, body: body('signup') },
    ...{ requests: EVENTS, perSecond: RATE, seconds: 3_600, from: 0 },
  })
  const { answered } = tracked
  await until(() => countEnded(five.id) >= answered)
  const seconds = (Date.now() - begunAt) / 1_000
  const cpu = cpuSeconds(server.pid) - cpuBefore
  const { mails } = query<{ mails: number }>('SELECT count(*) AS mails FROM emails')
  if (tracked.refused + alone.refused > 0) throw new Error('requests were refused')
  if (mails !== answered) throw new Error(`${mails} emails for ${answered} events`)
  rows.push(
    ['POST /v1/track alone, a second', show(alone.perSecond), ''],
    ['workflows, a second', show(answered / seconds), '> 1,000'],
    ['of POST /v1/track alone', show(answered / seconds / alone.perSecond, 2), '> 0.25'],
    [`p99 of POST /v1/track at ${RATE} a second, ms`, show(tracked.p99Ms), '< 100'],
    ['processor time a workflow, ms', show((1_000 * cpu) / answered, 2), ''],
  )
}

async function measureSleepers(server: Running, api: Api, { sleeping }: { sleeping: Made }) {
  await sleep(3_000)
  const before = cpuSeconds(server.pid)
  await sleep(IDLE_MS)
  const idle = (cpuSeconds(server.pid) - before) / (IDLE_MS / 1_000)
  rows.push(['idle, % of a processor', show(100 * idle, 2), '< 1'])
  const stats: number[] = []
  for (let round = 0; round < 5; round += 1) {
    const { ms, status } = await api.call('GET', `/workflows/${sleeping.id}/stats`)
    if (status !== 200) throw new Error(`stats: ${status}`)
    stats.push(ms)
  }
  rows.push(['stats, slowest of 5, ms', show(Math.max(...stats)), '< 300'])
  const delays: number[] = []
  for (let number = 0; number < SINGLES; number += 1) {
    const sentAt = Date.now()
    await api.ask('POST', '/v1/track', { event: 'sleep', email: `single${number}@example.net` })
    const find = () =>
      query<{ at: number | null }>(
        `SELECT (SELECT started_at FROM workflow_step_executions
            WHERE execution_number = workflow_executions.number) AS at FROM workflow_executions
          JOIN contacts ON contacts.id = contact_id WHERE email = 'single${number}@example.net'`,
      )
    await until(() => (find()?.at ?? null) !== null, 10)
    delays.push(Date.now() - sentAt)
  }
  rows.push(['a single one begun, slowest of 20, ms', show(Math.max(...delays)), '< 1,000'])
  const endedBefore = countEnded(sleeping.id)
  wakeSleepers(bench.database, sleeping.id, AT_ONCE)
  const begunAt = performance.now()
  await until(() => countEnded(sleeping.id) >= endedBefore + AT_ONCE, 50)
  const seconds = (performance.now() - begunAt) / 1_000
  rows.push([`${show(AT_ONCE)} due at once, s`, show(seconds, 1), '< 10'])
}

function countEnded(workflowId: string): number {
  return query<{ ended: number }>(
    `SELECT count(*) AS ended FROM workflow_executions INDEXED BY workflow_executions_status
      WHERE workflow_id = '${workflowId}' AND status IN ('EXITED', 'COMPLETED', 'FAILED')`,
  ).ended
}

async function until(isDone: () => boolean, everyMs = 200): Promise<void> {
  const endsAt = Date.now() + 600_000
  while (!isDone()) {
    if (Date.now() > endsAt) throw new Error('not done within ten minutes')
    await sleep(everyMs)
  }
}

function query<Row>(sql: string): Row {
  const db = new Database(bench.database, { readonly: true, timeout: 10_000 })
  try {
    return db.prepare(sql).get() as Row
  } finally {
    db.close()
  }
}

/** User and system time of the process and its threads. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}
