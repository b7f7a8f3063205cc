/** Bulk work on contacts: its effects and counts, and no work is done twice. */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { createSchedule } from '../../../../../src/core/areas.ts'
import type { Core } from '../../../../../src/core/core.ts'
import {
  type BulkSelection,
  findBulkStatus,
  runBulk,
  startBulk,
} from '../../../../../src/features/people/contacts/bulk/bulk-job.ts'
import type {
  BulkOperation,
  BulkResult,
} from '../../../../../src/features/people/contacts/bulk/result.ts'
import { upsertContacts } from '../../../../../src/features/people/contacts/write/upsert.ts'
import { and, asc, eq, like } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { jobs } from '../../../../../src/store/schema/jobs.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { segments } from '../../../../../src/store/schema/segments.ts'
import { startJobs } from '../../../../../src/work/jobs/jobs.ts'
import { FinalFailure } from '../../../../../src/work/jobs/run.ts'
import { addProject, address, openTestCore, type TestCore } from '../../../../core.ts'
import { cleanUpAfterFile } from '../../../../file-cleanup.ts'
import { type ClaimedJob, claimJob } from '../../../../work/jobs/running.ts'
import { addRecipient } from '../add-recipient.ts'

const cleanup = cleanUpAfterFile()
let core: TestCore

before(async () => {
  core = await openTestCore(cleanup)
})

type Person = { subscribed?: boolean; data?: Record<string, unknown>; email?: string }

/** In their order; the ids. */
async function addPeople(projectId: string, people: readonly Person[]): Promise<string[]> {
  const saved = await core.store.write((tx) =>
    upsertContacts(
      tx,
      {
        projectId,
        subscribed: undefined,
        subscribedByDefault: true,
        reason: 'api',
        at: core.clock.now,
      },
      people.map(({ subscribed, data = {}, email }, index) => ({
        address: address(email ?? `person${index}@people.test`),
        changes: data,
        subscribed,
      })),
    ),
  )
  return saved.map(({ contact }) => contact.id)
}

const repeat = (size: number, person: Person = {}) => Array.from({ length: size }, () => person)

const order = (projectId: string, operation: BulkOperation, target: BulkSelection<unknown>) =>
  startBulk(core, { projectId, operation, selection: target })

const byIds = (contactIds: string[]): BulkSelection<unknown> => ({ mode: 'ids', contactIds })

const byQuery = (filter: object = {}, excludeIds: string[] = []): BulkSelection<unknown> => ({
  mode: 'query',
  filter,
  excludeIds,
})

/** Asks for it and does it. */
async function bulk(
  projectId: string,
  operation: BulkOperation,
  target: BulkSelection<unknown>,
): Promise<BulkResult> {
  await order(projectId, operation, target)
  return finish(await claimJob(core, 'bulk'))
}

/** Does the work, and lets go of the job for those that follow. */
async function finish(job: ClaimedJob, deps: Pick<Core, 'store' | 'now'> = core) {
  const result = await runBulk(deps, job)
  await deps.store.write((tx) => tx.delete(jobs).where(eq(jobs.id, job.id)).run())
  return result
}

async function subscribedIds(projectId: string): Promise<string[]> {
  const isMeant = and(eq(contacts.projectId, projectId), eq(contacts.subscribed, true))
  const rows = await core.store.read.select({ id: contacts.id }).from(contacts).where(isMeant)
  return rows.map(({ id }) => id).sort()
}

const listEvents = (projectId: string) =>
  core.store.read
    .select({ name: events.name, contactId: events.contactId, data: events.data })
    .from(events)
    .where(and(eq(events.projectId, projectId), like(events.name, 'contact.%')))
    .orderBy(asc(events.seq))

test('changed and unchanged contacts are counted separately, and only changes emit events', async () => {
  const { id } = await addProject(core)
  const people = [{}, { subscribed: false }, {}, { subscribed: false }]
  const [a = '', b = '', c = '', d = ''] = await addPeople(id, people)
  const result = await bulk(id, 'unsubscribe', byIds([c, b, a, c]))
  assert.deepEqual(result, {
    operation: 'unsubscribe',
    totalRequested: 3,
    successCount: 2,
    unchangedCount: 1,
    keptUnsubscribedCount: 0,
    failureCount: 0,
    errors: [],
  })
  assert.deepEqual(await subscribedIds(id), [])
  const gone = { name: 'contact.unsubscribed', data: { reason: 'manual' } }
  assert.deepEqual(await listEvents(id), [
    { ...gone, contactId: c },
    { ...gone, contactId: a },
  ])
  const back = await bulk(id, 'subscribe', byIds([d]))
  assert.equal(back.successCount, 1)
  assert.deepEqual(await subscribedIds(id), [d])
  assert.deepEqual((await listEvents(id)).at(-1), {
    name: 'contact.subscribed',
    contactId: d,
    data: { reason: 'manual' },
  })
})

test('ids of another project fail like unknown ones, and its contacts do not change', async () => {
  const mine = await addProject(core)
  const theirs = await addProject(core)
  const [own = ''] = await addPeople(mine.id, [{}])
  const [foreign = ''] = await addPeople(theirs.id, [{}])
  const unknown = newId()
  const errors = [foreign, unknown].map((contactId) => ({
    contactId,
    email: null,
    error: 'Contact not found',
  }))
  for (const operation of ['unsubscribe', 'delete'] as const) {
    const result = await bulk(mine.id, operation, byIds([foreign, own, unknown]))
    assert.deepEqual(result, {
      operation,
      totalRequested: 3,
      successCount: 1,
      unchangedCount: 0,
      keptUnsubscribedCount: 0,
      failureCount: 2,
      errors,
    })
  }
  assert.deepEqual(await subscribedIds(theirs.id), [foreign])
  assert.deepEqual(await listEvents(theirs.id), [])
})

test('the first thousand failures are listed, and all are counted', async () => {
  const { id } = await addProject(core)
  const unknown = Array.from({ length: 1_001 }, () => newId())
  const { failureCount, errors } = await bulk(id, 'delete', byIds(unknown))
  assert.equal(failureCount, 1_001)
  assert.deepEqual(
    errors.map(({ contactId }) => contactId),
    unknown.slice(0, 1_000),
  )
})

test('deleting contacts deletes their emails and events', async () => {
  const { id } = await addProject(core)
  const gone = await addRecipient(core, { projectId: id })
  const kept = await addRecipient(core, { projectId: id })
  await bulk(id, 'unsubscribe', byIds([gone.contactId, kept.contactId]))
  const result = await bulk(id, 'delete', byIds([gone.contactId]))
  assert.equal(result.successCount, 1)
  const isMine = eq(emails.projectId, id)
  const left = await core.store.read.select({ id: emails.id }).from(emails).where(isMine)
  assert.deepEqual(left, [{ id: kept.emailId }])
  const emitted = await listEvents(id)
  assert.deepEqual(
    emitted.map(({ contactId }) => contactId),
    [kept.contactId],
  )
})

test('a query covers all matching contacts even if the change affects the match', async () => {
  const { id } = await addProject(core)
  const other = await addProject(core)
  await addPeople(other.id, repeat(3, { subscribed: false }))
  const people = repeat(700).map((_, index) => ({ subscribed: index % 3 === 0 }))
  const ids = await addPeople(id, people)
  const before = await subscribedIds(id)
  const spared = ids[1] ?? ''
  const off = ids.length - before.length
  const result = await bulk(id, 'subscribe', byQuery({ subscribed: false }, [spared]))
  assert.deepEqual(result, {
    operation: 'subscribe',
    totalRequested: off - 1,
    successCount: off - 1,
    unchangedCount: 0,
    keptUnsubscribedCount: 0,
    failureCount: 0,
    errors: [],
  })
  assert.deepEqual(await subscribedIds(id), ids.filter((each) => each !== spared).sort())
  assert.equal((await listEvents(id)).length, off - 1)
  const again = await bulk(id, 'subscribe', byQuery())
  assert.equal(again.successCount, 1)
  assert.equal(again.unchangedCount, ids.length - 1)
  assert.deepEqual(await subscribedIds(other.id), [])
})

test('a query accepts a part of the address and a condition', async () => {
  const { id } = await addProject(core)
  const people = [
    { email: 'ann@shop.test', data: { plan: 'pro' } },
    { email: 'bob@shop.test', data: { plan: 'free' } },
    { email: 'cid@home.test', data: { plan: 'pro' } },
  ]
  const [ann = '', bob = '', cid = ''] = await addPeople(id, people)
  const condition = {
    logic: 'AND',
    groups: [{ filters: [{ field: 'data.plan', operator: 'equals', value: 'pro' }] }],
  }
  await bulk(id, 'unsubscribe', byQuery({ search: 'SHOP', condition }))
  assert.deepEqual(await subscribedIds(id), [bob, cid].sort())
  await bulk(id, 'delete', byQuery({ subscribed: true, condition }))
  const rows = await core.store.read.select().from(contacts).where(eq(contacts.projectId, id))
  assert.deepEqual(rows.map((row) => row.id).sort(), [ann, bob].sort())
})

test('an invalid condition and an unknown reference are refused before a job is enqueued', async () => {
  const { id } = await addProject(core)
  const ask = (filter: object) =>
    order(id, 'delete', byQuery({ condition: { logic: 'AND', groups: [{ filters: [filter] }] } }))
  await assert.rejects(ask({ field: 'data.plan', operator: 'like', value: 'x' }), (error) => {
    assert.ok(error instanceof Error && 'fields' in error)
    const [field] = error.fields as { field: string }[]
    assert.equal(field?.field, 'filter.condition.groups.0.filters.0.operator')
    return true
  })
  const segment = { field: `segment.${newId()}`, operator: 'memberOfSegment' }
  await assert.rejects(ask(segment), { code: 'BAD_REQUEST' })
  assert.equal(await core.store.read.$count(jobs, eq(jobs.projectId, id)), 0)
})

test('a segment that is deleted before the job starts fails the job for good', async () => {
  const { id } = await addProject(core)
  const ids = await addPeople(id, repeat(2))
  const segmentId = newId()
  const at = { createdAt: core.clock.now, updatedAt: core.clock.now }
  const segment = { id: segmentId, projectId: id, name: 'Some', type: 'STATIC' as const, ...at }
  await core.store.write((tx) => tx.insert(segments).values(segment).run())
  const filter = { field: `segment.${segmentId}`, operator: 'notMemberOfSegment' }
  await order(
    id,
    'delete',
    byQuery({ condition: { logic: 'AND', groups: [{ filters: [filter] }] } }),
  )
  await core.store.write((tx) => tx.delete(segments).where(eq(segments.id, segmentId)).run())
  const job = await claimJob(core, 'bulk')
  await assert.rejects(runBulk(core, job), FinalFailure)
  assert.deepEqual(await subscribedIds(id), ids.sort())
  await core.store.write((tx) => tx.delete(jobs).where(eq(jobs.id, job.id)).run())
})

test('contacts that are created after the start do not change', async () => {
  const { id } = await addProject(core)
  await addPeople(id, repeat(30))
  await order(id, 'delete', byQuery())
  const job = await claimJob(core, 'bulk')
  let late: string[] = []
  const write: TestCore['store']['write'] = async (fn) => {
    const result = await core.store.write(fn)
    if (late.length === 0) late = await addPeople(id, [{ email: 'late@people.test' }])
    return result
  }
  const result = await finish(job, { store: { ...core.store, write }, now: core.now })
  assert.equal(result.successCount, 30)
  assert.deepEqual(await subscribedIds(id), late)
})

test('a resumed run continues after the last batch of the interrupted run', async () => {
  for (const [dieAfter, target] of [
    [0, 'query'],
    [1, 'query'],
    [3, 'query'],
    [0, 'ids'],
    [2, 'ids'],
  ] as const) {
    const { id } = await addProject(core)
    const ids = await addPeople(id, repeat(120))
    await bulk(id, 'unsubscribe', byIds(ids.slice(100)))
    const seenBefore = (await listEvents(id)).length
    await order(id, 'unsubscribe', target === 'ids' ? byIds(ids) : byQuery())
    const first = await claimJob(core, 'bulk')
    await assert.rejects(runBulk(endingAfter(dieAfter), first), /died/)
    core.clock.now += 60_000
    const second = await claimJob(core, 'bulk')
    assert.equal(second.id, first.id)
    const result = await finish(second)
    assert.deepEqual(result, {
      operation: 'unsubscribe',
      totalRequested: 120,
      successCount: 100,
      unchangedCount: 20,
      keptUnsubscribedCount: 0,
      failureCount: 0,
      errors: [],
    })
    const emitted = (await listEvents(id)).slice(seenBefore)
    assert.equal(emitted.length, 100)
    assert.equal(new Set(emitted.map(({ contactId }) => contactId)).size, 100)
  }
})

/** The dependencies of a job whose process dies after this many batches. */
function endingAfter(batches: number): Pick<Core, 'store' | 'now'> {
  let left = batches
  const write: TestCore['store']['write'] = async (fn) => {
    if (left === 0) throw new Error('died')
    left -= 1
    return core.store.write(fn)
  }
  return { store: { ...core.store, write }, now: core.now }
}

test('a run that lost its lease unnoticed writes no batch beside its successor', async () => {
  const { id } = await addProject(core)
  const ids = await addPeople(id, repeat(60))
  await order(id, 'unsubscribe', byIds(ids))
  const first = await claimJob(core, 'bulk')
  let second: Promise<BulkResult> | undefined
  const write: TestCore['store']['write'] = async (fn) => {
    const result = await core.store.write(fn)
    if (second === undefined) {
      core.clock.now += 60_000
      second = runBulk(core, await claimJob(core, 'bulk'))
    }
    return result
  }
  const stale = runBulk({ store: { ...core.store, write }, now: core.now }, first)
  await assert.rejects(stale, /lease of the job was lost/)
  assert.equal((await second)?.successCount, 60)
  assert.equal((await listEvents(id)).length, 60)
  await core.store.write((tx) => tx.delete(jobs).where(eq(jobs.id, first.id)).run())
})

test('an aborted job stops between two batches', async () => {
  const { id } = await addProject(core)
  const ids = await addPeople(id, repeat(60))
  await order(id, 'delete', byIds(ids))
  const job = await claimJob(core, 'bulk')
  job.abort.abort(new Error('The program is stopping.'))
  await assert.rejects(runBulk(core, job), /stopping/)
  assert.equal((await subscribedIds(id)).length, 60)
  await core.store.write((tx) => tx.delete(jobs).where(eq(jobs.id, job.id)).run())
})

test('the job loop runs the job, and the status shows its result', async (t) => {
  const { id } = await addProject(core)
  const ids = await addPeople(id, repeat(3))
  const { handlers, limits } = createSchedule(core)
  assert.equal(limits.bulk, 3)
  const { store, log, now, jobNotifier } = core
  const running = startJobs({ store, log, now, handlers, limits })
  t.after(() => running.stop(0))
  t.after(jobNotifier.listen(running.wake))
  const jobId = await order(id, 'delete', byIds(ids))
  assert.equal(jobId, `bulk-delete-${id}-${core.clock.now}`)
  const ask = () => findBulkStatus(core, { projectId: id, jobId })
  let status = await ask()
  while (status.state !== 'completed') {
    await new Promise(setImmediate)
    status = await ask()
  }
  assert.equal(status.progress, 100)
  assert.equal(status.failedReason, null)
  assert.deepEqual(status.data, {
    operation: 'delete',
    projectId: id,
    mode: 'ids',
    contactIds: ids,
  })
  assert.deepEqual(status.result, {
    operation: 'delete',
    totalRequested: 3,
    successCount: 3,
    unchangedCount: 0,
    keptUnsubscribedCount: 0,
    failureCount: 0,
    errors: [],
  })
})
