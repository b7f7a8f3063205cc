import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { eq } from '../../../src/store/drizzle.ts'
import { jobs } from '../../../src/store/schema/jobs.ts'
import { currentOwner } from '../../../src/turns/owner.ts'
import { enqueueJob } from '../../../src/work/jobs/enqueue.ts'
import {
  claimJobs,
  deleteExpiredJobs,
  deleteForeignTicks,
  putBackLostJobs,
} from '../../../src/work/jobs/job-row.ts'
import { FinalFailure, jobDelayMs } from '../../../src/work/jobs/run.ts'
import { START } from '../../core.ts'
import { pause } from '../../pause.ts'
import { openJobs, type TestJobs } from './job-loop.ts'

const setUp = (t: TestContext) => openJobs(t, 'work')

test('a job scans after requests, in the queue of its project', async (t) => {
  const { run, add, reaches } = await setUp(t)
  const id = await add({ projectId: 'p' })
  run({ handlers: { work: async () => currentOwner() } })
  const { result } = await reaches(id, 'completed')
  assert.deepEqual(result, { key: 'p', isJob: true })
})

test('a job runs with its payload, and its result is stored', async (t) => {
  const { run, add, reaches } = await setUp(t)
  const id = await add({ payload: { n: 2 }, projectId: 'p' })
  run({
    handlers: {
      work: async ({ payload, attempt, projectId }) => ({ payload, attempt, projectId }),
    },
  })
  const job = await reaches(id, 'completed')
  assert.deepEqual(job.result, { payload: { n: 2 }, attempt: 1, projectId: 'p' })
  assert.equal(job.progress, 100)
  assert.equal(job.completedAt, START)
  assert.equal(job.leaseId, null)
  assert.equal(job.error, null)
})

test('a job that is enqueued while the loop sleeps runs when the loop is woken', async (t) => {
  const { run, add, reaches } = await setUp(t)
  const running = run({ handlers: { work: async () => 'done' } })
  const id = await add({})
  running.wake()
  assert.equal((await reaches(id, 'completed')).result, 'done')
})

test('a job does not exist when the transaction that made it fails', async (t) => {
  const { store } = await setUp(t)
  const write = store.write(async (tx) => {
    await enqueueJob(tx, { kind: 'work', payload: {}, now: START })
    throw new Error('no')
  })
  await assert.rejects(write, /no/)
  assert.equal(await store.read.$count(jobs), 0)
})

test('a job whose handler throws FinalFailure fails at once', async (t) => {
  const { run, add, reaches } = await setUp(t)
  const id = await add({ maxAttempts: 5 })
  const work = async () => {
    throw new FinalFailure('The file is empty.')
  }
  run({ handlers: { work } })
  const job = await reaches(id, 'failed')
  assert.deepEqual([job.attempts, job.error], [1, 'The file is empty.'])
})

test('the loop sleeps until a job is due or somebody writes', async (t) => {
  const { store, run, add, clock, reaches } = await setUp(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const later = await add({ runAt: START + 30_000 })
  let reads = 0
  const read = new Proxy(store.read, {
    get(target, name) {
      if (name === 'select') reads += 1
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  run({ store: { ...store, read }, handlers: { work: async () => null } })
  const settle = async () => {
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
  }
  await settle()
  // Its own first write, of the jobs that it forgets.
  clock.at += 1_000
  t.mock.timers.tick(1_000)
  await settle()
  const first = reads
  assert.ok(first > 0)
  clock.at += 28_999
  t.mock.timers.tick(28_999)
  await settle()
  assert.equal(reads, first, 'no look in half a minute')
  clock.at += 1
  t.mock.timers.tick(1)
  await reaches(later, 'completed')
  const soon = await add({})
  t.mock.timers.tick(1_000)
  await reaches(soon, 'completed')
})

test('a job that becomes due while the loop looks does not wait for the next minute', async (t) => {
  const { store, run, add, clock, find } = await setUp(t)
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const dueAt = START + 5_000
  const id = await add({ runAt: dueAt })
  // The look itself takes the last millisecond.
  const read = new Proxy(store.read, {
    get(target, name) {
      if (name === 'select' && clock.at === dueAt - 1) clock.at = dueAt
      const value = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  run({ store: { ...store, read }, handlers: { work: async () => null } })
  const pass = async (ms: number) => {
    clock.at += ms
    t.mock.timers.tick(ms)
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
  }
  await pass(0)
  await pass(1_000)
  // The timer is early by the clock of the machine, as timers may be.
  clock.at -= 1
  await pass(4_000)
  assert.equal(clock.at, dueAt)
  await pass(1)
  assert.equal((await find(id)).state, 'completed')
})

test('a job waits for its time', async (t) => {
  const { run, add, find, clock, reaches } = await setUp(t)
  const later = await add({ runAt: START + 1000 })
  const now = await add({})
  const running = run({ handlers: { work: async () => null } })
  await reaches(now, 'completed')
  assert.equal((await find(later)).state, 'waiting')
  clock.at += 1000
  running.wake()
  await reaches(later, 'completed')
})

test('urgent jobs go first, then those that have been due longest', async (t) => {
  const { run, add, reaches } = await setUp(t)
  const order: unknown[] = []
  const last = await add({ payload: 'c', priority: 5 })
  await add({ payload: 'b', runAt: START - 1 })
  await add({ payload: 'a', runAt: START - 2 })
  const handlers = {
    work: async ({ payload }: { payload: unknown }) => {
      order.push(payload)
    },
  }
  run({ handlers, concurrency: 1 })
  await reaches(last, 'completed')
  assert.deepEqual(order, ['a', 'b', 'c'])
})

test('no more jobs run at a time than the limit, and none runs twice', async (t) => {
  const { run, add, reaches } = await setUp(t)
  const ids = await Promise.all(Array.from({ length: 12 }, () => add({})))
  let active = 0
  let most = 0
  let runs = 0
  run({
    concurrency: 3,
    handlers: {
      work: async () => {
        active += 1
        runs += 1
        most = Math.max(most, active)
        await new Promise(setImmediate)
        active -= 1
      },
    },
  })
  await Promise.all(ids.map((id) => reaches(id, 'completed')))
  assert.equal(most, 3)
  assert.equal(runs, 12)
})

test('a job of a kind without a handler waits for a process that has one', async (t) => {
  const { run, add, find, reaches } = await setUp(t)
  const other = await add({ kind: 'other' })
  const mine = await add({})
  run({ handlers: { work: async () => null } })
  await reaches(mine, 'completed')
  assert.equal((await find(other)).state, 'waiting')
})

test('a failing job is tried again after a growing delay and ends as failed', async (t) => {
  const { run, add, find, clock, reaches } = await setUp(t)
  const id = await add({ maxAttempts: 3 })
  let failures = 0
  const running = run({
    handlers: {
      work: async () => {
        failures += 1
        throw new Error(`${failures}. ${'long '.repeat(1000)}`)
      },
    },
  })
  const delays: number[] = []
  for (const attempts of [1, 2]) {
    let job = await find(id)
    while (job.attempts !== attempts || job.state !== 'waiting') {
      await new Promise(setImmediate)
      job = await find(id)
    }
    delays.push(job.runAt - clock.at)
    clock.at = job.runAt
    running.wake()
  }
  const failedJob = await reaches(id, 'failed')
  assert.equal(failedJob.attempts, 3)
  assert.equal(failedJob.completedAt, clock.at)
  assert.equal(failedJob.error?.length, 2000)
  assert.match(failedJob.error ?? '', /^3\. long/)
  assert.ok((delays[0] ?? 0) >= 45_000 && (delays[0] ?? 0) <= 75_000)
  assert.ok((delays[1] ?? 0) >= 90_000 && (delays[1] ?? 0) <= 150_000)
})

test('delays double from a minute to an hour, a quarter shorter or longer', () => {
  assert.deepEqual(
    [1, 2, 3, 6, 7, 50].map((attempts) => jobDelayMs(attempts, () => 0.5)),
    [60_000, 120_000, 240_000, 1_920_000, 3_600_000, 3_600_000],
  )
  assert.equal(
    jobDelayMs(1, () => 0),
    45_000,
  )
  assert.equal(
    jobDelayMs(1, () => 1),
    75_000,
  )
})

test('a unique key admits one waiting or active job', async (t) => {
  const { run, store, add, reaches } = await setUp(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  const job = { kind: 'work', payload: {}, now: START, uniqueKey: 'k' }
  const again = () => store.write((tx) => enqueueJob(tx, job))
  const id = await add(job)
  assert.deepEqual(await again(), { isNew: false })
  run({ handlers: { work: () => promise } })
  await reaches(id, 'active')
  assert.deepEqual(await again(), { isNew: false })
  resolve()
  await reaches(id, 'completed')
  assert.equal((await again()).isNew, true)
})

test('a job of a process that ended is put back when its lease ends', async (t) => {
  const { run, store, add, clock, find, reaches } = await setUp(t)
  const id = await add({})
  const claim = { kinds: ['work'], limit: 1, now: START, leaseUntil: START + 60_000 }
  await store.write((tx) => claimJobs(tx, claim))
  const running = run({ handlers: { work: async ({ attempt }) => attempt } })
  clock.at += 59_999
  running.wake()
  assert.equal((await find(id)).state, 'active')
  clock.at += 1
  running.wake()
  // Nothing says that the job was to blame: its first attempt still lies ahead.
  assert.equal((await reaches(id, 'completed')).result, 1)
})

/** Claims the job that waits, for a process that dies then; when the job may run again. */
async function loseJob({ store, clock, find }: TestJobs, id: string): Promise<number> {
  const leaseUntil = clock.at + 60_000
  const claim = { kinds: ['work'], limit: 1, now: clock.at, leaseUntil }
  const claimed = await store.write((tx) => claimJobs(tx, claim))
  assert.equal(claimed.length, 1)
  clock.at = leaseUntil
  await store.write((tx) => putBackLostJobs(tx, clock.at))
  return (await find(id)).runAt
}

test('processes that are killed in a loop use up no attempt of a job', async (t) => {
  const started = await setUp(t)
  const { run, add, clock, find, reaches } = started
  const id = await add({ maxAttempts: 1 })
  const rests: number[] = []
  for (let lossCount = 0; lossCount < 4; lossCount += 1) {
    const runAt = await loseJob(started, id)
    rests.push(runAt - clock.at)
    const { state, attempts } = await find(id)
    assert.deepEqual([state, attempts], ['waiting', 0])
    clock.at = runAt
  }
  // A loop that is quicker than that does not even find the job.
  assert.deepEqual(rests, [0, 60_000, 120_000, 240_000])
  run({ handlers: { work: async ({ attempt }) => attempt } })
  assert.equal((await reaches(id, 'completed')).result, 1)
})

test('a job fails after five processes have ended while running it', async (t) => {
  const started = await setUp(t)
  const { run, add, clock, reaches } = started
  const id = await add({})
  for (let lossCount = 0; lossCount < 5; lossCount += 1) {
    clock.at = Math.max(clock.at, await loseJob(started, id))
  }
  run({ handlers: { work: async () => 'never' } })
  const failedJob = await reaches(id, 'failed')
  assert.match(failedJob.error ?? '', /process ended/)
  assert.deepEqual([failedJob.result, failedJob.attempts, failedJob.losses], [null, 0, 5])
})

test('a heartbeat keeps the lease of a long job', async (t) => {
  const { run, add, clock, find, reaches } = await setUp(t)
  const id = await add({})
  const { promise, resolve } = Promise.withResolvers<void>()
  run({ handlers: { work: () => promise }, leaseMs: 30 })
  await reaches(id, 'active')
  clock.at += 20
  while ((await find(id)).leaseUntil !== START + 50) await pause()
  resolve()
  assert.equal((await reaches(id, 'completed')).attempts, 1)
})

test('a run that has lost its lease is aborted, and its result does not count', async (t) => {
  const { run, store, add, find, reaches } = await setUp(t)
  const id = await add({})
  const { promise, resolve } = Promise.withResolvers<void>()
  run({
    leaseMs: 30,
    handlers: {
      work: ({ signal }) =>
        new Promise((done) => {
          signal.addEventListener('abort', () => {
            done('stale')
            resolve()
          })
        }),
    },
  })
  await reaches(id, 'active')
  const taken = { leaseId: 'another', leaseUntil: START + 60_000 }
  await store.write((tx) => tx.update(jobs).set(taken).where(eq(jobs.id, id)))
  await promise
  await new Promise(setImmediate)
  const job = await find(id)
  assert.equal(job.state, 'active')
  assert.equal(job.leaseId, 'another')
})

test('stop waits for running jobs and claims no more', async (t) => {
  const { run, add, find, reaches } = await setUp(t)
  const first = await add({ runAt: START - 1 })
  const second = await add({})
  const { promise, resolve } = Promise.withResolvers<void>()
  const running = run({ handlers: { work: () => promise }, concurrency: 1 })
  await reaches(first, 'active')
  const stopping = running.stop(10_000)
  resolve()
  await stopping
  assert.equal((await find(first)).state, 'completed')
  assert.equal((await find(second)).state, 'waiting')
})

test('stop aborts a job that does not end in time and puts it back without counting the attempt', async (t) => {
  const { run, add, find, reaches } = await setUp(t)
  const id = await add({})
  let reason: unknown
  const running = run({
    handlers: {
      work: ({ signal }) =>
        new Promise((_done, fail) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            fail(signal.reason)
          })
        }),
    },
  })
  await reaches(id, 'active')
  await running.stop(5)
  assert.match(String(reason), /stopping/)
  const job = await find(id)
  assert.equal(job.state, 'waiting')
  assert.equal(job.attempts, 0)
  assert.equal(job.leaseId, null)
  assert.equal(job.error, null)
})

test('progress can be read while the job runs', async (t) => {
  const { run, add, find, reaches } = await setUp(t)
  const id = await add({})
  const { promise, resolve } = Promise.withResolvers<void>()
  run({
    handlers: {
      work: async ({ setPercent }) => {
        await setPercent(41.7)
        await promise
      },
    },
  })
  while ((await find(id)).progress !== 42) await pause()
  resolve()
  await reaches(id, 'completed')
})

test('a cron tick enqueues one job, and the next tick none while that job runs', async (t) => {
  const { run, store } = await setUp(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  const ticks: number[] = []
  const enough = Promise.withResolvers<void>()
  const write = t.mock.method(store, 'write')
  const running = run({
    handlers: {
      daily: async ({ payload }) => {
        assert.deepEqual(payload, { of: 'cron' })
        ticks.push(write.mock.callCount())
        enough.resolve()
        await promise
      },
    },
    cron: [
      { name: 'one', schedule: '* * * * * *', kind: 'daily', payload: { of: 'cron' } },
      { name: 'never', schedule: '0 0 30 2 *', kind: 'daily' },
    ],
  })
  await enough.promise
  const before = write.mock.callCount()
  while (write.mock.callCount() === before) await pause()
  assert.equal(await store.read.$count(jobs), 1)
  assert.equal(ticks.length, 1)
  resolve()
  await running.stop(1000)
  const [job] = await store.read.select().from(jobs)
  assert.equal(job?.state, 'completed')
})

test('a cron entry without a handler or with a wrong schedule is a TypeError', async (t) => {
  const { run } = await setUp(t)
  const cron = [{ name: 'x', schedule: '* * * * *', kind: 'nobody' }]
  assert.throws(() => run({ cron }), TypeError)
  const wrong = [{ name: 'x', schedule: 'sometimes', kind: 'work' }]
  assert.throws(() => run({ handlers: { work: async () => null }, cron: wrong }), TypeError)
})

test('old jobs are deleted, failed ones later', async (t) => {
  const { run, store, add, reaches } = await setUp(t)
  const done = await add({})
  const failedJob = await add({ kind: 'bad', maxAttempts: 1 })
  const waiting = await add({ runAt: START + 1e12 })
  const bad = async () => Promise.reject(new Error('bad'))
  run({ handlers: { work: async () => null, bad } })
  await Promise.all([reaches(done, 'completed'), reaches(failedJob, 'failed')])
  const left = async () => (await store.read.select({ id: jobs.id }).from(jobs)).map((j) => j.id)
  await store.write((tx) => deleteExpiredJobs(tx, { completed: START, failed: START }))
  assert.deepEqual(await left(), [done, failedJob, waiting])
  await store.write((tx) => deleteExpiredJobs(tx, { completed: START + 1, failed: START }))
  assert.deepEqual(await left(), [failedJob, waiting])
  await store.write((tx) => deleteExpiredJobs(tx, { completed: START + 1, failed: START + 1 }))
  assert.deepEqual(await left(), [waiting])
})

test('unfinished ticks of work that has another name by now are deleted', async (t) => {
  const { store, add, find } = await setUp(t)
  const tick = (name: string) => add({ kind: name, uniqueKey: `cron:${name}` })
  const [known, renamed] = [await tick('work'), await tick('old-name')]
  // A request enqueued this one: it stays until a version comes that knows it.
  const asked = await add({ kind: 'old-name', uniqueKey: 'old-name p' })
  const finished = await add({ kind: 'old-name' })
  await store.write(async (tx) => {
    const done = { state: 'completed', uniqueKey: 'cron:old-name', completedAt: START } as const
    await tx.update(jobs).set(done).where(eq(jobs.id, finished))
    await deleteForeignTicks(tx, ['work'])
  })
  const left = (await store.read.select({ id: jobs.id }).from(jobs)).map(({ id }) => id)
  assert.deepEqual(left, [known, asked, finished])
  await assert.rejects(find(renamed))
})
