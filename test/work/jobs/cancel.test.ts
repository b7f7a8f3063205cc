/** Jobs that somebody asks to stop: what they have done stays and is counted, also after a restart. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { eq } from '../../../src/store/drizzle.ts'
import { type Job, jobProgress, jobs } from '../../../src/store/schema/jobs.ts'
import { cancelJob } from '../../../src/work/jobs/cancel.ts'
import { deleteExpiredJobs, endLeases, MAX_FINISHED_JOBS } from '../../../src/work/jobs/job-row.ts'
import { loadProgress, saveProgress } from '../../../src/work/jobs/progress.ts'
import type { RunningJob } from '../../../src/work/jobs/run.ts'
import { openJobs, type TestJobs } from './job-loop.ts'
import { addProjectRows } from './project-rows.ts'
import { claimJob } from './running.ts'

type Done = { steps: number }

const partialResult = (state: unknown) => ({ steps: (state as Done | undefined)?.steps ?? 0 })
const cancelledEnds = { long: { partialResult } }

const setUp = (t: TestContext) => openJobs(t, 'long')

/** Asks for the end of a job, without telling the loop. */
async function cancel({ store, now, find }: TestJobs, id: string) {
  const job = await find(id)
  return store.write((tx) => cancelJob(tx, job, { end: { partialResult }, now: now() }))
}

/** A handler of steps, each of which the test lets end. */
function openSteps({ store, now }: TestJobs) {
  let begin = Promise.withResolvers<void>()
  let end = Promise.withResolvers<void>()
  const handler = async (job: RunningJob) => {
    let { steps } = (await loadProgress<Done>(store.read, job.id)) ?? { steps: 0 }
    for (;;) {
      job.signal.throwIfAborted()
      begin.resolve()
      await end.promise
      begin = Promise.withResolvers()
      end = Promise.withResolvers()
      steps += 1
      const count = { done: steps, total: 10 }
      const advance = { state: { steps }, percent: 10 * steps, count, at: now() }
      await store.write((tx) => saveProgress(tx, job, advance))
    }
  }
  return { handler, begun: () => begin.promise, end: () => end.resolve() }
}

/** A handler that works until it is told to stop, which may have happened before it begins. */
const untilAborted = ({ signal }: RunningJob) =>
  new Promise((_, fail) => {
    if (signal.aborted) fail(signal.reason)
    signal.addEventListener('abort', () => fail(signal.reason))
  })

const outcome = ({ state, result, done, total, error }: Job) => ({
  ...{ state, result, done, total, error },
})

test('a job that waits ends at once, and its result is what it has done', async (t) => {
  const opened = await setUp(t)
  const { store, now, clock, add, find } = opened
  const id = await add()
  const job = await claimJob(opened, 'long')
  await store.write((tx) => saveProgress(tx, job, { state: { steps: 3 }, at: now() }))
  clock.at += 1_000
  await store.write((tx) => tx.update(jobs).set({ state: 'waiting' }).where(eq(jobs.id, id)))
  assert.equal(await cancel(opened, id), 'cancelled')
  const ended = await find(id)
  assert.deepEqual(
    [ended.state, ended.result, ended.completedAt],
    ['cancelled', { steps: 3 }, clock.at],
  )
  assert.equal(await store.read.$count(jobProgress), 0)
  assert.equal(await cancel(opened, id), 'ended')
})

test('a running job stops after its step, which counts', async (t) => {
  const opened = await setUp(t)
  const { run, add, reaches } = opened
  const id = await add()
  const steps = openSteps(opened)
  const loop = run({ handlers: { long: steps.handler }, cancelledEnds, limits: { long: 1 } })
  await steps.begun()
  assert.equal(await cancel(opened, id), 'stopping')
  loop.cancel(id)
  assert.equal((await opened.find(id)).state, 'active')
  assert.equal(await cancel(opened, id), 'stopping')
  steps.end()
  const ended = await reaches(id, 'cancelled')
  assert.deepEqual(outcome(ended), {
    ...{ state: 'cancelled', result: { steps: 1 }, done: 1, total: 10, error: null },
  })
})

test('a running job learns with the renewal of its lease that it is cancelled', async (t) => {
  const opened = await setUp(t)
  const { run, add, reaches } = opened
  const id = await add()
  const handler = untilAborted
  run({ handlers: { long: handler }, cancelledEnds, limits: { long: 1 }, leaseMs: 30 })
  await reaches(id, 'active')
  await cancel(opened, id)
  assert.deepEqual((await reaches(id, 'cancelled')).result, { steps: 0 })
})

test('what was stored for a job goes when it ends as cancelled, and not before', async (t) => {
  const opened = await setUp(t)
  const { run, add, reaches, find, now, store } = opened
  const discarded: unknown[] = []
  const discard = async (_tx: unknown, payload: unknown) => void discarded.push(payload)
  const end = { partialResult, discard }
  const waiting = await add({ payload: { file: 1 } })
  const job = await find(waiting)
  await store.write((tx) => cancelJob(tx, job, { end, now: now() }))
  assert.deepEqual(discarded.splice(0), [{ file: 1 }])
  const running = await add({ payload: { file: 2 } })
  const options = { handlers: { long: untilAborted }, limits: { long: 1 } }
  const loop = run({ ...options, cancelledEnds: { long: end } })
  const active = await reaches(running, 'active')
  await store.write((tx) => cancelJob(tx, active, { end, now: now() }))
  assert.deepEqual(discarded, [])
  loop.cancel(running)
  await reaches(running, 'cancelled')
  assert.deepEqual(discarded, [{ file: 2 }])
})

test('a job that is done when it is cancelled is completed', async (t) => {
  const opened = await setUp(t)
  const { run, add, reaches } = opened
  const id = await add()
  const { promise, resolve } = Promise.withResolvers<string>()
  const loop = run({ handlers: { long: () => promise }, cancelledEnds, limits: { long: 1 } })
  await reaches(id, 'active')
  await cancel(opened, id)
  loop.cancel(id)
  resolve('all of it')
  assert.equal((await reaches(id, 'completed')).result, 'all of it')
})

test('a job whose process ends before its step is done ends in the next one without a step', async (t) => {
  const opened = await setUp(t)
  const { store, now, run, add, reaches } = opened
  const id = await add()
  const job = await claimJob(opened, 'long')
  await store.write((tx) => saveProgress(tx, job, { state: { steps: 2 }, at: now() }))
  assert.equal(await cancel(opened, id), 'stopping')
  await store.write((tx) => endLeases(tx, now()))
  let runs = 0
  const handler = async () => {
    runs += 1
  }
  run({ handlers: { long: handler }, cancelledEnds, limits: { long: 1 } })
  assert.deepEqual((await reaches(id, 'cancelled')).result, { steps: 2 })
  assert.equal(runs, 0)
})

test('a stop of the program leaves the end of a cancelled job to the next process', async (t) => {
  const opened = await setUp(t)
  const { run, add, find, reaches } = opened
  const id = await add()
  const handler = untilAborted
  const loop = run({ handlers: { long: handler }, cancelledEnds, limits: { long: 1 } })
  await reaches(id, 'active')
  await cancel(opened, id)
  await loop.stop(0)
  assert.equal((await find(id)).state, 'waiting')
  run({ handlers: { long: handler }, cancelledEnds, limits: { long: 1 } })
  await reaches(id, 'cancelled')
})

test('of each kind a project keeps its last cancelled jobs, for as long as completed ones', async (t) => {
  const opened = await setUp(t)
  const { store, clock, add } = opened
  const projectId = 'p1'
  await addProjectRows(store, projectId)
  const most = MAX_FINISHED_JOBS.cancelled
  for (let count = 0; count <= most; count += 1) {
    clock.at += 1
    await cancel(opened, await add({ projectId }))
  }
  const ended = eq(jobs.state, 'cancelled')
  assert.equal(await store.read.$count(jobs, ended), most)
  await store.write((tx) => deleteExpiredJobs(tx, { completed: clock.at, failed: 0 }))
  assert.equal(await store.read.$count(jobs, ended), 1)
})

test('a job begins when it is first claimed', async (t) => {
  const opened = await setUp(t)
  const { clock, store, now, add, find } = opened
  const id = await add()
  assert.equal((await find(id)).startedAt, null)
  const begun = clock.at
  await claimJob(opened, 'long')
  clock.at += 5_000
  await store.write((tx) => endLeases(tx, now()))
  await claimJob(opened, 'long')
  assert.equal((await find(id)).startedAt, begun)
})
