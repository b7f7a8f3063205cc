import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { deleteEvents, runEventDeletion } from '../../../../src/features/ground/events/delete.ts'
import { countByName, listNames } from '../../../../src/features/ground/events/names.ts'
import { findEventUsage } from '../../../../src/features/ground/events/usage.ts'
import { upsertContact } from '../../../../src/features/people/contacts/write/contact-queue.ts'
import { startJobs } from '../../../../src/work/jobs/jobs.ts'
import type { JobHandler } from '../../../../src/work/jobs/run.ts'
import { findJobStatus } from '../../../../src/work/jobs/status.ts'
import { addProject, address, openTestCore, START, type TestCore } from '../../../core.ts'
import { pause } from '../../../pause.ts'
import { claimJob } from '../../../work/jobs/running.ts'

type EventInput = { name: string; count: number; contactId?: string; projectId?: string }

async function openShop(t: TestContext) {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const addEvents = async ({ count, ...input }: EventInput) => {
    const event = { projectId: project.id, contactId: null, emailId: null, data: null, at: START }
    await core.store.write((tx) =>
      appendEvents(
        tx,
        Array.from({ length: count }, () => ({ ...event, ...input })),
      ),
    )
  }
  const target = (name: string) => ({ projectId: project.id, name })
  return { core, project, addEvents, target }
}

/** Runs the job to its end or to its interruption. */
async function work(core: TestCore, handle: JobHandler): Promise<void> {
  const { store, log, now } = core
  const ended = Promise.withResolvers<void>()
  const run: JobHandler = async (job) => {
    try {
      return await handle(job)
    } finally {
      ended.resolve()
    }
  }
  const jobs = startJobs({ store, log, now, handlers: { 'delete-events': run } })
  await ended.promise
  await jobs.stop(5_000)
}

async function statusOf({ store, now }: TestCore, projectId: string, id: string | undefined) {
  const asked = { projectId, id: id ?? '', kinds: ['delete-events'] }
  const { state, progress, result } = await findJobStatus({ store, now }, asked)
  return { state, progress, result }
}

test('a job deletes many events in batches; later events and other names stay', async (t) => {
  const { core, project, addEvents, target } = await openShop(t)
  const other = await addProject(core)
  await addEvents({ name: 'old', count: 1_234 })
  await addEvents({ name: 'older', count: 3 })
  await addEvents({ name: 'old', count: 2, projectId: other.id })
  const { jobId, deletedCount } = await deleteEvents(core, target('old'))
  assert.equal(deletedCount, 1_234)
  await addEvents({ name: 'old', count: 5 })
  await work(core, (job) => runEventDeletion(core, job))
  assert.deepEqual(await statusOf(core, project.id, jobId), {
    ...{ state: 'completed', progress: 100, result: { deletedCount: 1_234 } },
  })
  assert.deepEqual(await countByName(core, project.id), [
    { name: 'old', count: 5 },
    { name: 'older', count: 3 },
  ])
  assert.deepEqual(await countByName(core, other.id), [{ name: 'old', count: 2 }])
})

test('an interrupted job resumes and counts each event once', async (t) => {
  const { core, project, addEvents, target } = await openShop(t)
  await addEvents({ name: 'old', count: 800 })
  const { jobId } = await deleteEvents(core, target('old'))
  let batches = 0
  const breaking: TestCore['store'] = {
    ...core.store,
    write: async (fn) => {
      batches += 1
      if (batches > 2) throw new Error('the power went')
      return core.store.write(fn)
    },
  }
  await work(core, (job) => runEventDeletion({ ...core, store: breaking }, job))
  const [{ count } = { count: 0 }] = await countByName(core, project.id)
  assert.ok(count > 0 && count < 800)
  core.clock.now += 3_600_000
  await work(core, (job) => runEventDeletion(core, job))
  const { result } = await statusOf(core, project.id, jobId)
  assert.deepEqual(result, { deletedCount: 800 })
  assert.deepEqual(await listNames(core, { projectId: project.id }), [])
})

test('the job pauses between batches, so that other writes run', async (t) => {
  const { core, addEvents, target } = await openShop(t)
  await addEvents({ name: 'old', count: 600 })
  await deleteEvents(core, target('old'))
  const job = await claimJob(core, 'delete-events')
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const write = t.mock.method(core.store, 'write')
  const running = runEventDeletion(core, job)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  while (write.mock.callCount() === 0) await pause()
  await write.mock.calls[0]?.result
  for (let index = 0; index < 20; index += 1) await turn()
  assert.equal(write.mock.callCount(), 1)
  job.abort.abort(new Error('The program is stopping.'))
  await assert.rejects(running, /stopping/)
  assert.equal(write.mock.callCount(), 1)
})

test('usage during a deletion counts the remaining events', async (t) => {
  const { core, addEvents, target } = await openShop(t)
  await addEvents({ name: 'old', count: 600 })
  const first = await deleteEvents(core, target('old'))
  const second = await deleteEvents(core, target('old'))
  assert.notEqual(first.jobId, second.jobId)
  assert.equal(second.deletedCount, 600)
})

test('both counts include each contact once and skip events without a contact', async (t) => {
  const { core, project, addEvents, target } = await openShop(t)
  for (const [index, count] of [3, 1, 0, 2].entries()) {
    const email = address(`u${index}@people.test`)
    const { contact } = await upsertContact(core, {
      ...{ projectId: project.id, address: email, subscribed: index % 2 === 0 },
    })
    await addEvents({ name: 'used', count, contactId: contact.id })
    await addEvents({ name: 'else', count: 1, contactId: contact.id })
  }
  await addEvents({ name: 'used', count: 4 })
  for (const maxEventsRead of [100, 9]) {
    const usage = await findEventUsage(core, target('used'), { maxEventsRead })
    assert.deepEqual([usage.totalCount, usage.uniqueContacts], [10, 3])
  }
})

test('names beyond the limit of one query are counted, too', async (t) => {
  const { core, project } = await openShop(t)
  const event = { projectId: project.id, contactId: null, emailId: null, data: null, at: START }
  const names = Array.from({ length: 450 }, (_, index) => `n${String(index).padStart(3, '0')}`)
  const all = names.flatMap((name, index) => (index % 50 === 0 ? [name, name] : [name]))
  await core.store.write((tx) =>
    appendEvents(
      tx,
      all.map((name) => ({ ...event, name })),
    ),
  )
  const counts = await countByName(core, project.id)
  const twice = names.filter((_, index) => index % 50 === 0)
  assert.deepEqual(
    counts.map(({ name }) => name),
    [...twice, ...names.filter((name) => !twice.includes(name))],
  )
  assert.deepEqual(
    counts.map(({ count }) => count),
    [...Array(9).fill(2), ...Array(441).fill(1)],
  )
  assert.deepEqual(await listNames(core, { projectId: project.id, limit: 2 }), ['n000', 'n001'])
})
