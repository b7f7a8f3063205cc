/** Long work of many projects: whose job is next, and how many one may have. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { AppError } from '../../../src/base/errors.ts'
import { createLog, type Log, silentLog } from '../../../src/base/log.ts'
import {
  enqueueForProject,
  MAX_UNFINISHED,
} from '../../../src/features/ground/enqueue-for-project.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { type Job, jobs } from '../../../src/store/schema/jobs.ts'
import { openStore } from '../../../src/store/store.ts'
import { isWorkDue, selectDue } from '../../../src/work/jobs/due.ts'
import { enqueueJob, type NewJob } from '../../../src/work/jobs/enqueue.ts'
import {
  type ClaimedJob,
  claimJobs,
  completeJob,
  failJob,
  putBackJob,
  putBackLostJobs,
} from '../../../src/work/jobs/job-row.ts'
import { startJobs } from '../../../src/work/jobs/jobs.ts'
import { FinalFailure, type JobHandler } from '../../../src/work/jobs/run.ts'
import { copyDatabase } from '../../database-template.ts'
import { pause } from '../../pause.ts'
import { makeDatabaseFolder } from '../../store/test-store.ts'
import { addProjectRows } from './project-rows.ts'
import { findJob } from './running.ts'

const start = 1_700_000_000_000
const long = { kinds: ['long'], onePerProject: true }

async function setUp(t: TestContext) {
  const { path } = await makeDatabaseFolder(t)
  await copyDatabase(path)
  const store = await openStore({ path, log: silentLog() })
  const clock = { at: start }
  const started: ReturnType<typeof startJobs>[] = []
  t.after(async () => {
    for (const each of started) await each.stop(0)
    await store.close()
  })
  const isOver = async (id: string) => hasEnded((await findJob(store.read, id))?.state)
  return {
    store,
    clock,
    async add(projectId: string, job: Partial<NewJob> = {}) {
      const base = { kind: 'long', payload: {}, projectId, now: clock.at }
      const made = await store.write((tx) => enqueueJob(tx, { ...base, ...job }))
      assert.ok(made.isNew)
      return made.id
    },
    claim: (limit: number) =>
      store.write(async (tx) => {
        await putBackLostJobs(tx, clock.at)
        const leaseUntil = clock.at + 60_000
        return claimJobs(tx, { ...long, limit, now: clock.at, leaseUntil })
      }),
    complete: (job: ClaimedJob) =>
      store.write((tx) => completeJob(tx, job, { result: null, now: clock.at })),
    run(handler: JobHandler, { slots = 1, log = silentLog() }: { slots?: number; log?: Log }) {
      const handlers = { long: handler }
      const loop = { store, log, now: () => clock.at, handlers, limits: { long: slots } }
      started.push(startJobs(loop))
    },
    async ends(ids: readonly string[]) {
      for (const id of ids) {
        while (!(await isOver(id))) await pause()
      }
    },
  }
}

const hasEnded = (state?: string) => state === 'completed' || state === 'failed'
const projectsOf = (claimed: readonly Pick<Job, 'projectId'>[]) =>
  claimed.map(({ projectId }) => projectId)

test('a project runs one job of a kind at a time, even when slots are free', async (t) => {
  const { store, add, claim, complete, clock } = await setUp(t)
  const [first, second] = [await add('p'), await add('p', { runAt: start + 1 })]
  await add('p', { kind: 'other' })
  clock.at += 1
  const [job, ...more] = await claim(3)
  assert.equal(job?.id, first)
  assert.deepEqual(more, [])
  assert.equal(await isWorkDue(store, [long], clock.at), false, 'no transaction for what must wait')
  assert.deepEqual(await claim(3), [])
  assert.equal(
    await isWorkDue(store, [{ ...long, kinds: ['long', 'other'] }], clock.at),
    true,
    'another kind is not held back',
  )
  await complete(job)
  assert.equal(await isWorkDue(store, [long], clock.at), true)
  assert.deepEqual(
    (await claim(3)).map(({ id }) => id),
    [second],
  )
})

test('a project with one job does not wait for all jobs of another project', async (t) => {
  const { add, run, ends, clock } = await setUp(t)
  const ids = [await add('p'), await add('p'), await add('p'), await add('q'), await add('q')]
  clock.at += 1
  ids.push(await add('r'))
  const served: unknown[] = []
  const handler: JobHandler = async ({ projectId }) => {
    served.push(projectId)
    clock.at += 1
    if (served.length === 2) throw new FinalFailure('A turn all the same.')
  }
  run(handler, { slots: 1 })
  await ends(ids)
  assert.deepEqual(served.slice(0, 2).sort(), ['p', 'q'])
  assert.equal(served[2], 'r')
  assert.deepEqual(served.slice(3, 5), served.slice(0, 2))
  assert.equal(served[5], 'p')
})

test('free slots go to different projects', async (t) => {
  const { add, claim } = await setUp(t)
  for (const project of ['p', 'p', 'p', 'q', 'q', 'r']) await add(project)
  const served = [...projectsOf(await claim(2)), ...projectsOf(await claim(3))]
  assert.deepEqual(served.sort(), ['p', 'q', 'r'])
  assert.deepEqual(await claim(3), [])
})

test('a job that waits for its retry, or was lost, holds up no other job of its project', async (t) => {
  const { store, add, claim, clock } = await setUp(t)
  const first = await add('p')
  clock.at += 1
  const second = await add('p')
  const [tried] = await claim(1)
  assert.ok(tried)
  const failure = { error: 'not now', retryAt: clock.at + 1000, now: clock.at }
  await store.write((tx) => failJob(tx, tried, failure))
  assert.deepEqual(
    (await claim(2)).map(({ id }) => id),
    [second],
  )
  clock.at += 60_000
  assert.equal(await isWorkDue(store, [long], clock.at), true)
  assert.deepEqual(
    (await claim(2)).map(({ id }) => id),
    [first],
    'the lease is over, and what it held back goes first',
  )
})

test('a job that is put back runs before the later ones of its project', async (t) => {
  const { store, add, claim, clock } = await setUp(t)
  const id = await add('p')
  clock.at += 1
  await add('p')
  const [held] = await claim(1)
  assert.equal(held?.id, id)
  clock.at += 1
  await store.write((tx) => putBackJob(tx, held, clock.at))
  assert.equal((await claim(1))[0]?.id, id)
})

const row = fc.record({
  kind: fc.constantFrom('long', 'other'),
  projectId: fc.constantFrom('p', 'q', 'r', null),
  state: fc.constantFrom('waiting', 'waiting', 'waiting', 'active', 'completed', 'failed'),
  priority: fc.nat(1),
  runAt: fc.nat(4),
  end: fc.nat(3),
})
type Row = Pick<Job, 'id' | 'kind' | 'projectId' | 'state' | 'priority' | 'runAt'> & {
  end: number
}

/** A second, simple implementation of `selectDue`. */
function expectDue(rows: readonly Row[], now: number): string[] {
  const isDue = (one: Row) => one.kind === 'long' && one.state === 'waiting' && one.runAt <= now
  const inOrder = (a: Row, b: Row) =>
    a.priority - b.priority || a.runAt - b.runAt || (a.id < b.id ? -1 : 1)
  const isNext = (one: Row) => {
    const others = siblings(rows, one)
    if (others.some(({ state }) => state === 'active')) return false
    return !others.some((other) => isDue(other) && inOrder(other, one) < 0)
  }
  return rows
    .filter((one) => isDue(one) && isNext(one))
    .map((one) => keyOf(rows, one))
    .sort()
}

function siblings(rows: readonly Row[], one: Row): Row[] {
  if (one.projectId === null) return []
  return rows.filter(({ kind, projectId }) => kind === one.kind && projectId === one.projectId)
}

/** Single digits, so that texts are in the order of the numbers. */
function keyOf(rows: readonly Row[], one: Row): string {
  const ended = siblings(rows, one).filter(({ state }) => hasEnded(state))
  return `${one.priority} ${Math.max(0, ...ended.map(({ end }) => end))} ${one.runAt}`
}

test('the next jobs claimed follow the order of turns, in any state of the table', async (t) => {
  const { store } = await setUp(t)
  const fill = (rows: readonly Row[]) =>
    store.write(async (tx) => {
      await tx.delete(jobs).run()
      const base = { payload: {}, maxAttempts: 1, createdAt: 0, updatedAt: 0 }
      for (const { end, ...one } of rows) {
        const completedAt = hasEnded(one.state) ? end : null
        await tx.insert(jobs).values({ ...base, ...one, completedAt })
      }
    })
  const limits = fc.integer({ min: 1, max: 4 })
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 14 }), limits, async (given, limit) => {
      const rows = given.map((one, index) => ({ ...one, id: `job-${index}` }) as Row)
      await fill(rows)
      const found = await store.read.all<{ id: string }>(selectDue(long, { limit, now: 2 }))
      const chosen = found.flatMap(({ id }) => rows.filter((one) => one.id === id))
      const expected = expectDue(rows, 2)
      assert.deepEqual(
        chosen.map((one) => keyOf(rows, one)),
        expected.slice(0, limit),
      )
      const named = projectsOf(chosen).filter((project) => project !== null)
      assert.equal(new Set(named).size, named.length)
      assert.equal(await isWorkDue(store, [long], 2), expected.length > 0)
    }),
    { numRuns: 60 },
  )
})

test('a project may have twenty unfinished jobs of a kind; the next is refused and leaves no row', async (t) => {
  const { store, claim, complete, clock } = await setUp(t)
  await addProjectRows(store, 'p', 'q')
  const name = (projectId = 'p', kind = 'long') =>
    store.write(async (tx) => {
      await enqueueJob(tx, { kind: 'written before', payload: {}, now: clock.at })
      return enqueueForProject(tx, { prefix: kind, kind, payload: {}, projectId, now: clock.at })
    })
  const asked = await Promise.allSettled(Array.from({ length: 25 }, () => name()))
  const refused = asked.filter(({ status }) => status === 'rejected')
  assert.equal(refused.length, 25 - MAX_UNFINISHED)
  for (const { reason } of refused as PromiseRejectedResult[]) {
    assert.ok(reason instanceof AppError)
    assert.equal(reason.code, 'CONFLICT')
    assert.equal(reason.status, 409)
    assert.match(reason.message, /20 unfinished jobs of the kind "long"/)
    assert.deepEqual(reason.details, { kind: 'long', limit: 20 })
  }
  const count = (kind: string) => store.read.$count(jobs, sql`kind = ${kind}`)
  assert.equal(await count('long'), 20)
  assert.equal(await count('written before'), 20, 'the whole transaction is undone')
  await name('q')
  await name('p', 'other')
  const claimed = await claim(2)
  await assert.rejects(name(), { code: 'CONFLICT' }, 'one that runs is unfinished too')
  for (const job of claimed) await complete(job)
  await name()
  await assert.rejects(name(), { code: 'CONFLICT' })
})

test('a final failure is logged as a line, a fault with its stack', async (t) => {
  const { add, run, ends } = await setUp(t)
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => lines.push(line) })
  const thrown: Record<string, Error> = {
    p: new FinalFailure('The file is empty.'),
    q: new TypeError('a mistake of ours'),
  }
  const ids = [await add('p'), await add('q', { maxAttempts: 1 })]
  const fail: JobHandler = async ({ projectId }) => {
    throw thrown[projectId ?? '']
  }
  run(fail, { slots: 2, log })
  await ends(ids)
  const [vain, failed] = ids.map((id) =>
    lines.map((line) => JSON.parse(line)).find(({ jobId }) => jobId === id),
  )
  assert.deepEqual([vain.level, vain.reason], ['info', 'The file is empty.'])
  assert.equal('error' in vain, false)
  assert.doesNotMatch(JSON.stringify(vain), /stack|turns\.test/)
  assert.equal(failed.level, 'warn')
  assert.match(failed.error.stack, /a mistake of ours\n\s+at /)
})
