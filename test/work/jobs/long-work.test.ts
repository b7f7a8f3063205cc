/** Long work that requests enqueue: ids, slots, progress, end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../src/base/errors.ts'
import { enqueueForProject } from '../../../src/features/ground/enqueue-for-project.ts'
import { and, eq } from '../../../src/store/drizzle.ts'
import { type Job, jobProgress, jobs } from '../../../src/store/schema/jobs.ts'
import { enqueueJob } from '../../../src/work/jobs/enqueue.ts'
import { putBackLostJobs } from '../../../src/work/jobs/job-row.ts'
import { loadProgress, saveProgress } from '../../../src/work/jobs/progress.ts'
import { FinalFailure, type RunningJob } from '../../../src/work/jobs/run.ts'
import { findJobStatus } from '../../../src/work/jobs/status.ts'
import { START } from '../../core.ts'
import { pause } from '../../pause.ts'
import { openJobs } from './job-loop.ts'
import { addProjectRows } from './project-rows.ts'
import { claimJob } from './running.ts'

const setUp = (t: TestContext) => openJobs(t, 'long')

/** A handler that ends when it is told to, or when it is interrupted. */
function openHandler() {
  const { promise, resolve } = Promise.withResolvers<void>()
  const active: string[] = []
  let most = 0
  const handler = async ({ id, signal }: RunningJob) => {
    active.push(id)
    most = Math.max(most, active.length)
    const aborted = new Promise<void>((_done, fail) => {
      signal.addEventListener('abort', () => fail(signal.reason))
    })
    try {
      await Promise.race([promise, aborted])
    } finally {
      active.splice(active.indexOf(id), 1)
    }
  }
  return { handler, open: resolve, active, most: () => most }
}

test('a kind with its own limit runs that many jobs at a time', async (t) => {
  const { run, add, find, reaches } = await setUp(t)
  const ids = [await add(), await add(), await add(), await add(), await add()]
  const { handler, open, most, active } = openHandler()
  const running = run({ handlers: { long: handler }, limits: { long: 2 } })
  while (active.length < 2) await pause()
  running.wake()
  const states = await Promise.all(ids.map(async (id) => (await find(id)).state))
  assert.deepEqual(states, ['active', 'active', 'waiting', 'waiting', 'waiting'])
  open()
  await Promise.all(ids.map((id) => reaches(id, 'completed')))
  assert.equal(most(), 2)
})

test('long work and other jobs take no slots from each other', async (t) => {
  const { run, add, reaches } = await setUp(t)
  const { handler, open } = openHandler()
  const short = openHandler()
  const long = [await add(), await add()]
  const waiting = await add({ kind: 'other-long' })
  const shorts = [await add({ kind: 'short' }), await add({ kind: 'short' })]
  run({
    handlers: { long: handler, 'other-long': async () => 'done', short: short.handler },
    limits: { long: 2, 'other-long': 1 },
    concurrency: 1,
  })
  await Promise.all(long.map((id) => reaches(id, 'active')))
  await reaches(waiting, 'completed')
  while (short.active.length < 1) await pause()
  short.open()
  await Promise.all(shorts.map((id) => reaches(id, 'completed')))
  assert.equal(short.most(), 1)
  open()
  await Promise.all(long.map((id) => reaches(id, 'completed')))
})

test('stop interrupts long work at once and puts it back without counting the attempt', async (t) => {
  const { run, add, find, reaches } = await setUp(t)
  const id = await add()
  const { handler } = openHandler()
  const running = run({ handlers: { long: handler }, limits: { long: 1 } })
  await reaches(id, 'active')
  // Would be waited for, were it not interrupted.
  await running.stop(2_147_483_647)
  const job = await find(id)
  assert.equal(job.state, 'waiting')
  assert.equal(job.attempts, 0)
  assert.equal(job.leaseId, null)
})

test('saved progress is found by the next run and deleted when the job completes', async (t) => {
  const started = await setUp(t)
  const { store, add, find, run, reaches, clock } = started
  const id = await add()
  assert.equal(await loadProgress(store.read, id), undefined)
  const job = await claimJob(started, 'long')
  const save = (state: unknown, percent?: number) =>
    store.write((tx) =>
      saveProgress(tx, job, {
        state,
        at: clock.at,
        ...(percent === undefined ? {} : { percent }),
      }),
    )
  await save({ row: 1 }, 12.6)
  await save({ row: 2 })
  assert.deepEqual(await loadProgress(store.read, id), { row: 2 })
  assert.equal((await find(id)).progress, 13)
  clock.at += 60_000
  run({
    handlers: { long: async (again) => loadProgress(store.read, again.id) },
    limits: { long: 1 },
  })
  assert.deepEqual((await reaches(id, 'completed')).result, { row: 2 })
  assert.equal(await store.read.$count(jobProgress), 0)
})

test('a job that advances in each run may be lost more often than it may fail', async (t) => {
  const started = await setUp(t)
  const { store, add, find, clock } = started
  const id = await add()
  const { maxAttempts } = await find(id)
  for (let row = 1; row <= maxAttempts + 2; row += 1) {
    const job = await claimJob(started, 'long')
    await store.write((tx) => saveProgress(tx, job, { state: { row }, at: clock.at }))
    clock.at += 60_000
  }
  // The last loss of those is the first of a run that comes no further.
  for (let losses = 1; losses < 5; losses += 1) {
    await store.write((tx) => putBackLostJobs(tx, clock.at))
    const { state, runAt } = await find(id)
    assert.equal(state, 'waiting')
    clock.at = Math.max(clock.at, runAt)
    await claimJob(started, 'long')
    clock.at += 60_000
  }
  await store.write((tx) => putBackLostJobs(tx, clock.at))
  assert.equal((await find(id)).state, 'failed')
})

test('a run that has lost its lease commits nothing more', async (t) => {
  const started = await setUp(t)
  const { store, add, clock, now } = started
  const id = await add()
  const first = await claimJob(started, 'long')
  clock.at += 60_000
  const second = await claimJob(started, 'long')
  assert.equal(second.id, first.id)
  assert.equal(second.attempt, 1)
  const batch = (job: RunningJob, row: number) =>
    store.write(async (tx) => {
      await enqueueJob(tx, { kind: `row ${row}`, payload: {}, now: now() })
      await saveProgress(tx, job, { state: { row }, at: now() })
    })
  await batch(second, 1)
  await assert.rejects(batch(first, 2), /lease of the job was lost/)
  assert.deepEqual(await loadProgress(store.read, id), { row: 1 })
  assert.equal(await store.read.$count(jobs, eq(jobs.kind, 'row 2')), 0)
  second.abort.abort(new Error('The program is stopping.'))
  await assert.rejects(batch(second, 3), /stopping/)
  assert.equal(await store.read.$count(jobs, eq(jobs.kind, 'row 3')), 0)
})

test('jobs enqueued in one millisecond get the ids of the next milliseconds', async (t) => {
  const { store } = await setUp(t)
  await addProjectRows(store, 'p', 'q')
  const name = (projectId: string) =>
    store.write((tx) =>
      enqueueForProject(tx, {
        prefix: 'bulk-delete',
        kind: 'bulk',
        payload: {},
        projectId,
        now: START,
      }),
    )
  assert.deepEqual(
    [await name('p'), await name('p'), await name('q'), await name('p')],
    [
      `bulk-delete-p-${START}`,
      `bulk-delete-p-${START + 1}`,
      `bulk-delete-q-${START}`,
      `bulk-delete-p-${START + 2}`,
    ],
  )
})

test('the status of a job is found by its project and kind only', async (t) => {
  const started = await setUp(t)
  const { add, run, clock, reaches, find } = started
  const id = await add({ projectId: 'p', payload: { what: 1 }, maxAttempts: 2 })
  const ask = (question: object = {}) =>
    findJobStatus(started, { projectId: 'p', id, kinds: ['long'], ...question })
  const empty = { id, progress: 0, result: null, data: { what: 1 }, failedReason: null }
  assert.deepEqual(await ask(), { ...empty, state: 'waiting' })
  for (const question of [{ projectId: 'q' }, { kinds: ['other'] }, { id: 'nothing' }]) {
    await assert.rejects(ask(question), { code: 'RESOURCE_NOT_FOUND' })
  }
  const long = async ({ attempt }: RunningJob) => {
    if (attempt === 1) throw new Error('not now')
    return { rows: 3 }
  }
  const running = run({ handlers: { long }, limits: { long: 1 } })
  while ((await find(id)).error === null) await pause()
  const failedReason = 'The server failed to do this work. Its log has the details.'
  assert.deepEqual(await ask(), { ...empty, state: 'delayed', failedReason })
  clock.at = (await find(id)).runAt
  running.wake()
  await reaches(id, 'completed')
  assert.deepEqual(await ask(), {
    ...empty,
    state: 'completed',
    progress: 100,
    result: { rows: 3 },
  })
})

test('a project sees public reasons only, the operator all of them', async (t) => {
  const { add, run, reaches } = await setUp(t)
  const thrown = [
    new AppError('BAD_REQUEST', 'public', { cause: new Error('private') }),
    new FinalFailure('final', { cause: new Error('private') }),
    new Error('private: /var/lib/file'),
  ]
  const long = async ({ payload }: RunningJob) => {
    throw thrown[payload as number]
  }
  const once = { maxAttempts: 1 }
  const ids = [
    await add({ payload: 0, projectId: 'p', ...once }),
    await add({ payload: 1, projectId: 'p', ...once }),
    await add({ payload: 2, projectId: 'p', ...once }),
    await add({ payload: 2, ...once }),
  ]
  run({ handlers: { long }, limits: { long: 4 } })
  const errors = []
  for (const id of ids) errors.push((await reaches(id, 'failed')).error)
  assert.deepEqual(errors, [
    'public',
    'final',
    'The server failed to do this work. Its log has the details.',
    'private: /var/lib/file',
  ])
})

test('a project keeps its last 50 completed and 100 failed jobs of each kind', async (t) => {
  const { store, add, run, reaches } = await setUp(t)
  const over = { payload: {}, runAt: START, maxAttempts: 1, createdAt: START, updatedAt: START }
  const rows = (state: 'completed' | 'failed', count: number, of: { projectId: string }) =>
    Array.from({ length: count }, (_, index) => ({
      ...over,
      ...of,
      id: `${state}-${of.projectId}-${String(index).padStart(3, '0')}`,
      kind: 'long',
      state,
      completedAt: START - 1000 + index,
    }))
  await store.write(async (tx) => {
    await tx.insert(jobs).values(rows('completed', 60, { projectId: 'p' }))
    await tx.insert(jobs).values(rows('failed', 110, { projectId: 'p' }))
    await tx.insert(jobs).values(rows('completed', 60, { projectId: 'q' }))
    await tx
      .insert(jobs)
      .values({ ...rows('failed', 1, { projectId: 'p' })[0]!, id: 'other', kind: 'other' })
  })
  const id = await add({ projectId: 'p' })
  run({ handlers: { long: async () => null }, limits: { long: 1 } })
  await reaches(id, 'completed')
  const left = async (projectId: string, state: Job['state']) => {
    const isMeant = and(eq(jobs.projectId, projectId), eq(jobs.state, state), eq(jobs.kind, 'long'))
    const rows = await store.read.select({ id: jobs.id }).from(jobs).where(isMeant).orderBy(jobs.id)
    return rows.map((row) => row.id)
  }
  const completed = await left('p', 'completed')
  assert.equal(completed.length, 50)
  assert.ok(completed.includes(id))
  assert.ok(completed.includes('completed-p-011'))
  assert.ok(!completed.includes('completed-p-010'))
  const failed = await left('p', 'failed')
  assert.equal(failed.length, 100)
  assert.equal(failed[0], 'failed-p-010')
  assert.equal((await left('q', 'completed')).length, 60)
  assert.equal(await store.read.$count(jobs, eq(jobs.id, 'other')), 1)
})
