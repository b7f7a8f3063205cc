import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { sql } from '../../../src/store/drizzle.ts'
import { childProgram } from '../../child-program.ts'
import { copyDatabase } from '../../database-template.ts'
import { type StripeDouble, type StripeRequest, startStripeDouble } from '../../stripe/double.ts'
import { CUSTOMERS, logOf, openMetered } from './metering-child.ts'

const HOUR_MS = 3_600_000
const program = childProgram('test/e2e/crash/metering-child.ts')

/**
 * Where the process is killed, and how many hours pass before it starts again. `before`, `during`: when
 * Stripe has got a meter event, and when it has counted it, before it answers.
 */
const KILLS: readonly [step: string, hours: number][] = [
  ['committed', 2],
  ['before', 2],
  ['during', 2],
  ['answered', 2],
  ['answered', 25],
  ['summed', 2],
  ['during', 30],
  ['summed', 3],
  ['before', 26],
  ['during', 2],
]

const isEvent = ({ path: to }: StripeRequest) => to === '/v1/billing/meter_events'

test('emails are charged exactly once, whatever step of a batch is killed', async (t) => {
  const { file, stripe, start, pass } = await setUp(t)
  for (const [step, hours] of KILLS) {
    await killAt(stripe, start, step)
    pass(hours)
  }
  const finishing = start('finish')
  assert.deepEqual(await once(finishing, 'exit'), [0, null])

  const store = await openMetered(file)
  const sent = await store.read.all<{ project: string; emails: number }>(
    sql`select project_id as project, count(*) as emails from events group by 1 order by 1`,
  )
  const states = await store.read.all(sql`select state, count(*) as n from metering_batches
    group by 1`)
  await store.close()
  assert.deepEqual(
    sent,
    CUSTOMERS.map((project) => ({ project, emails: stripe.charged(project) })),
  )
  assert.deepEqual(states, [{ state: 'charged', n: stripe.state.events.length }])
})

test('emails that are not charged are in the log, whatever step of the drop is killed', async (t) => {
  const { file, stripe, start, pass } = await setUp(t)
  const [gone, other] = CUSTOMERS as [string, string]
  const isOfGone = ({ form }: StripeRequest) => JSON.stringify(form).includes(gone)
  for (const step of ['dropping', 'dropped', 'finish']) {
    stripe.fault = (request) => (isEvent(request) && isOfGone(request) ? '400' : undefined)
    if (step !== 'finish') await killAt(stripe, start, step)
    else assert.deepEqual(await once(start(step), 'exit'), [0, null])
    pass(2)
  }

  const store = await openMetered(file)
  const sent = await store.read.values<[string]>(
    sql`select email_id from events where project_id = ${gone} order by 1`,
  )
  const [batches] = await store.read.values(
    sql`select count(*) from metering_batches where state = 'dropped'`,
  )
  await store.close()
  const logged = await readNotCharged(file)
  assert.deepEqual(
    [...new Set(logged.flatMap(({ emails }) => emails))].sort(),
    sent.map(([id]) => id),
  )
  assert.deepEqual(batches, [new Set(logged.map(({ batch }) => batch)).size])
  assert.equal(stripe.charged(gone), 0)
  assert.equal(stripe.charged(other), sent.length)
})

async function setUp(t: TestContext) {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  let ahead = 0
  const stripe = await startStripeDouble(() => Date.now() + ahead)
  const running = new Set<ChildProcess>()
  t.after(async () => {
    for (const child of running) child.kill('SIGKILL')
    await stripe.stop()
    await rm(folder, { recursive: true, force: true })
  })
  const file = path.join(folder, 'a.db')
  await copyDatabase(file)
  const start = (step: string) => {
    const args = [program, file, stripe.url, String(ahead), step]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(child)
    child.once('exit', () => running.delete(child))
    return child
  }
  const pass = (hours: number) => {
    ahead += hours * HOUR_MS
  }
  return { file, stripe, start, pass }
}

/** The lines of batches that are not charged. */
async function readNotCharged(file: string): Promise<{ batch: string; emails: string[] }[]> {
  const lines = (await readFile(logOf(file), 'utf8')).trimEnd().split('\n')
  return lines
    .map((line) => JSON.parse(line))
    .filter(({ msg }) => msg === 'emails were not charged')
}

/** Resolves when the process is dead. */
async function killAt(
  stripe: StripeDouble,
  start: (step: string) => ChildProcess,
  step: string,
): Promise<void> {
  const child = start(step)
  const exited = once(child, 'exit')
  const kill = () => child.kill('SIGKILL')
  child.stdout?.once('data', kill)
  let isDone = false
  const killOnce = () => {
    if (isDone) return false
    isDone = kill()
    return isDone
  }
  if (step === 'before') {
    stripe.fault = (request) => (isEvent(request) && killOnce() ? 'refuse' : undefined)
  }
  if (step === 'during') stripe.onDone = (request) => void (isEvent(request) && killOnce())
  assert.deepEqual(await exited, [null, 'SIGKILL'], step)
  stripe.fault = () => undefined
  stripe.onDone = () => undefined
}
