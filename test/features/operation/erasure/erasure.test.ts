/** What a reset and a deletion leave, of every table. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DUTIES } from '../../../../src/core/areas.ts'
import { enqueueForProject } from '../../../../src/features/ground/enqueue-for-project.ts'
import { appendEvent } from '../../../../src/features/ground/events/append.ts'
import {
  deleteProject,
  findResetState,
  resetProject,
  resumeErasures,
} from '../../../../src/features/operation/erasure/end-project.ts'
import {
  CONTENTS,
  listErasedTables,
  listParts,
  QUEUE,
} from '../../../../src/features/operation/erasure/erase-rows.ts'
import {
  runDeletion,
  runReset,
  untilBilled,
  untilCounted,
} from '../../../../src/features/operation/erasure/run.ts'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import type { Statement } from '../../../../src/store/database.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { deletedEvents } from '../../../../src/store/schema/analytics.ts'
import { eventFollowers, events } from '../../../../src/store/schema/events.ts'
import { inboundMessages } from '../../../../src/store/schema/inbound.ts'
import { jobs } from '../../../../src/store/schema/jobs.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { claimJobs } from '../../../../src/work/jobs/job-row.ts'
import { addProject, openTestCore, START, type TestCore, trustDomain } from '../../../core.ts'
import { pause } from '../../../pause.ts'
import { addMember, addUser } from '../../../session.ts'
import { createLedger } from '../../insight/analytics/counting/ledger.ts'
import { addRecipient } from '../../people/contacts/add-recipient.ts'
import { countFilled, digestFilled, fillProject, findText, listAll } from './fill.ts'
import { passFollowers, work } from './work.ts'

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const [mine, other] = [await addProject(core, 'Mine'), await addProject(core, 'Other')]
  const ids = { mine: mine.id, other: other.id }
  const own = await fill(core, { ...ids, projectId: mine.id, userId: mine.ownerId })
  const others = await fill(core, { ...ids, projectId: other.id, userId: other.ownerId })
  return { core, mine, other, own, others }
}

function fill(
  { store }: TestCore,
  { mine, other, ...of }: { mine: string; other: string; projectId: string; userId: string },
) {
  return fillProject(store, { ...of, others: of.projectId === mine ? other : mine })
}

const findProject = ({ store }: TestCore, id: string) =>
  store.read.select().from(projects).where(eq(projects.id, id)).get()

const { tables } = DUTIES
const KEPT = listErasedTables(tables, 'deletion')
const OWNED = listErasedTables(tables, 'owner')
const SURVIVING = listErasedTables(tables, 'never')

/** Of tables where rows of the project are there, or not. */
async function tablesWith(core: TestCore, filled: Awaited<ReturnType<typeof fill>>) {
  const counts = [...(await countFilled(core.store.read, filled))]
  const names = (count: number) =>
    counts.flatMap(([table, found]) => (found === count ? table : [])).sort()
  return { there: names(1), gone: names(0) }
}

test('a table with rows of projects is erased or kept: its area says how', async (t) => {
  const { store } = await openTestCore(t)
  const ofProjects = (await listAll(store.read)).filter(({ columns }) =>
    columns.some(({ name }) => name === 'project_id'),
  )
  const known = [QUEUE, CONTENTS, ...listParts(tables, 'deletion')].map(({ table }) => table)
  const unknown = ofProjects.filter(
    ({ name }) => ![...known, ...OWNED, ...SURVIVING].includes(name),
  )
  assert.deepEqual(
    unknown.map(({ name }) => name),
    [],
  )
})

test('a reset erases the rows of all tables but the kept ones, and none of other projects', async (t) => {
  const { core, mine, own, others } = await setUp(t)
  const { there } = await tablesWith(core, own)
  assert.equal(there.length, own.size, 'one row in each table')
  const digest = await digestFilled(core.store.read, others)
  await resetProject(core, mine.id)
  await work(core)
  assert.deepEqual((await tablesWith(core, own)).there, [...KEPT, ...SURVIVING].toSorted())
  assert.equal(await digestFilled(core.store.read, others), digest)
  const project = await findProject(core, mine.id)
  assert.equal(project?.isDisabled, false)
  assert.equal(project?.resetSince, null)
  assert.deepEqual([project?.contactCount, project?.subscribedCount], [0, 0])
})

test('a deletion erases the rows of all tables but what is charged, and the project, and none of other projects', async (t) => {
  const { core, mine, own, others } = await setUp(t)
  const digest = await digestFilled(core.store.read, others)
  await deleteProject(core, mine.id)
  await work(core)
  assert.deepEqual((await tablesWith(core, own)).there, SURVIVING)
  assert.equal(await findProject(core, mine.id), undefined)
  const places = await findText(core.store.read, mine.id)
  assert.deepEqual(places, ['metering_batches.project_id'])
  assert.equal(await digestFilled(core.store.read, others), digest)
})

test('mail to mailboxes of two projects stays with the other one', async (t) => {
  const { core, mine, other } = await setUp(t)
  const countShared = async () => {
    const rows = await core.store.read.select().from(inboundMessages).all()
    return rows.filter(({ recipients }) => recipients.length === 2).length
  }
  assert.equal(await countShared(), 2)
  await resetProject(core, mine.id)
  await work(core)
  assert.equal(await countShared(), 2)
  await deleteProject(core, mine.id)
  await work(core)
  const left = await core.store.read.select().from(inboundMessages).all()
  const owners = left.map(({ recipients }) => recipients.map((each) => Object(each).projectId))
  assert.deepEqual(owners, [[other.id], [other.id], [other.id]])
})

test('rows that come in while a project is reset are erased, too', async (t) => {
  const { core, mine } = await setUp(t)
  await resetProject(core, mine.id)
  await passFollowers(core)
  const [job] = await core.store.write((tx) =>
    claimJobs(tx, { kinds: ['reset-project'], limit: 1, now: START, leaseUntil: START + 60_000 }),
  )
  assert.ok(job)
  const late = { projectId: mine.id, name: 'email.bounce', contactId: null, emailId: null }
  let writes = 0
  const write: TestCore['store']['write'] = async (fn, options) => {
    const result = await core.store.write(fn, options)
    writes += 1
    // Behind the batches of events.
    if (writes === 40) {
      await addRecipient(core, { projectId: mine.id })
      await core.store.write((tx) => appendEvent(tx, { ...late, data: null, at: START }))
    }
    return result
  }
  const signal = new AbortController().signal
  const running = { ...job, attempt: 1, signal, setPercent: async () => undefined }
  await runReset({ ...core, store: { ...core.store, write } }, running)
  assert.ok(writes > 40)
  assert.equal((await findProject(core, mine.id))?.resetSince, null)
  assert.equal(await core.store.read.$count(events, eq(events.projectId, mine.id)), 0)
  assert.equal((await findProject(core, mine.id))?.contactCount, 0)
})

test('a reset waits until the reputation has counted what happened before it', async (t) => {
  const { core } = await setUp(t)
  const move = (seq: number) =>
    core.store.write((tx) =>
      tx
        .insert(eventFollowers)
        .values({ name: 'reputation', seq, updatedAt: START })
        .onConflictDoUpdate({ target: eventFollowers.name, set: { seq } }),
    )
  await move(0)
  const { signal } = new AbortController()
  let isCounted = false
  const waiting = untilCounted(core, { signal }).then(() => assert.ok(isCounted))
  await core.store.write((tx) => tx.select().from(projects))
  isCounted = true
  const newest = await core.store.read.get<{ seq: number }>(sql`select max(seq) as seq from events`)
  await move(newest.seq)
  await waiting
})

test('a follower that stands still does not keep a project closed', async (t) => {
  const { core } = await setUp(t)
  const place = { name: 'reputation', seq: 0, updatedAt: START }
  await core.store.write((tx) =>
    tx
      .insert(eventFollowers)
      .values(place)
      .onConflictDoUpdate({ target: eventFollowers.name, set: { seq: 0 } }),
  )
  const warnings: string[] = []
  const warn = (_facts: object, text: string) => warnings.push(text)
  const log = { ...core.log, warn } as unknown as TestCore['log']
  const { signal } = new AbortController()
  await untilCounted({ store: core.store, log }, { signal, standstillMs: 0 })
  assert.deepEqual(warnings, ['a reset did not wait until the reputation had counted all events'])
})

test('a second reset is refused; its state is that of the first, and outlives the job', async (t) => {
  const { core, mine } = await setUp(t)
  const state = async () => {
    const project = await findProject(core, mine.id)
    assert.ok(project)
    return findResetState(core, project)
  }
  assert.deepEqual(await state(), {
    state: 'idle',
    startedAt: null,
    progress: 0,
    completedAt: null,
  })
  await resetProject(core, mine.id)
  core.clock.now += 1_000
  await assert.rejects(resetProject(core, mine.id), { code: 'CONFLICT' })
  const startedAt = new Date(START).toISOString()
  assert.deepEqual(await state(), { state: 'running', startedAt, progress: 0, completedAt: null })
  await work(core)
  await core.store.write((tx) => tx.delete(jobs))
  const completedAt = new Date(START + 1_000).toISOString()
  assert.deepEqual(await state(), { state: 'done', startedAt, progress: 100, completedAt })
})

test('a role that ended after the request was admitted erases nothing', async (t) => {
  const { core, mine, other } = await setUp(t)
  const { id: memberId } = await addUser(core)
  await addMember(core, { projectId: mine.id, userId: memberId, role: 'MEMBER' })
  const refusals = [
    [memberId, 'FORBIDDEN'],
    [other.ownerId, 'RESOURCE_NOT_FOUND'],
  ] as const
  for (const [actorId, code] of refusals) {
    await assert.rejects(resetProject(core, mine.id, { actorId }), { code })
    await assert.rejects(deleteProject(core, mine.id, { actorId }), { code })
  }
  const project = await findProject(core, mine.id)
  assert.deepEqual([project?.resetSince, project?.deletedAt], [null, null])
  await resetProject(core, mine.id, { actorId: mine.ownerId })
  await deleteProject(core, mine.id, { actorId: mine.ownerId })
})

test('a deletion ends a reset that is under way: its job can write no more', async (t) => {
  const { core, mine, own } = await setUp(t)
  await resetProject(core, mine.id)
  await passFollowers(core)
  const [job] = await core.store.write((tx) =>
    claimJobs(tx, { kinds: ['reset-project'], limit: 1, now: START, leaseUntil: START + 60_000 }),
  )
  assert.ok(job)
  const signal = new AbortController().signal
  const running = { ...job, attempt: 1, signal, setPercent: async () => undefined }
  const project = await findProject(core, mine.id)
  let isDeleted = false
  const write: TestCore['store']['write'] = async (fn, options) => {
    if (!isDeleted) {
      isDeleted = true
      await deleteProject(core, mine.id)
    }
    return core.store.write(fn, options)
  }
  const before = (await tablesWith(core, own)).there.length
  await assert.rejects(
    runReset({ ...core, store: { ...core.store, write } }, running),
    /lease of the job was lost/,
  )
  // The membership, the invitation and the domain have gone with the deletion.
  assert.equal((await tablesWith(core, own)).there.length, before - 3)
  assert.equal(project?.deletedAt, null)
  await work(core)
  assert.equal(await findProject(core, mine.id), undefined)
})

test('an operator who enables or disables a project does not end its reset', async (t) => {
  const { core, mine, other } = await setUp(t)
  await resetProject(core, mine.id)
  await updateProject(core, mine.id, { enable: true })
  assert.equal((await findProject(core, mine.id))?.isDisabled, true)
  await resetProject(core, other.id)
  core.clock.now += 5
  await updateProject(core, other.id, { disable: 'MANUAL' })
  await work(core)
  assert.equal((await findProject(core, mine.id))?.isDisabled, false)
  const disabled = await findProject(core, other.id)
  assert.deepEqual(
    [disabled?.isDisabled, disabled?.disabledReason, disabled?.disabledAt, disabled?.resetSince],
    [true, 'MANUAL', START + 5, null],
  )
  await updateProject(core, other.id, { enable: true })
  const enabled = await findProject(core, other.id)
  assert.deepEqual([enabled?.isDisabled, enabled?.disabledAt], [false, null])
})

test('the project that sends the mail of the server is neither reset nor deleted', async (t) => {
  const { core, mine } = await setUp(t)
  const accounts = { ...core.config.accounts, mailProject: mine.id }
  const deps = { ...core, config: { ...core.config, accounts } }
  const before = await findProject(core, mine.id)
  await assert.rejects(resetProject(deps, mine.id), { code: 'CONFLICT' })
  await assert.rejects(deleteProject(deps, mine.id), { code: 'CONFLICT' })
  assert.deepEqual(await findProject(core, mine.id), before)
  await deleteProject(deps, mine.id, { force: true })
  assert.equal((await findProject(core, mine.id))?.name, '')
})

test('the project of the sandbox, which sends its mail, may be reset but not deleted', async (t) => {
  const { core, mine } = await setUp(t)
  await trustDomain(core, mine.id, 'example.test')
  assert.equal(core.config.delivery.mode, 'sandbox')
  await assert.rejects(deleteProject(core, mine.id), { code: 'CONFLICT' })
  await resetProject(core, mine.id)
})

test('a job that failed for good is enqueued again, once', async (t) => {
  const { core, mine, other } = await setUp(t)
  await resetProject(core, mine.id)
  await deleteProject(core, other.id)
  const count = () => core.store.read.$count(jobs, eq(jobs.state, 'waiting'))
  await resumeErasures(core)
  assert.equal(await count(), 2)
  await core.store.write((tx) => tx.update(jobs).set({ state: 'failed' }))
  await resumeErasures(core)
  assert.equal(await count(), 2)
  await work(core)
  assert.equal((await findProject(core, mine.id))?.resetSince, null)
  assert.equal(await findProject(core, other.id), undefined)
})

test('a request that outlasts the deletion of its project enqueues no job', async (t) => {
  const { core, mine, other } = await setUp(t)
  const enqueue = (projectId: string) =>
    core.store.write((tx) =>
      enqueueForProject(tx, { prefix: 'bulk', kind: 'bulk', payload: {}, projectId, now: START }),
    )
  await resetProject(core, other.id)
  await assert.rejects(enqueue(other.id), { code: 'CONFLICT' })
  await deleteProject(core, mine.id)
  await assert.rejects(enqueue(mine.id), { code: 'RESOURCE_NOT_FOUND' })
  await work(core)
  await assert.rejects(enqueue(mine.id), { code: 'RESOURCE_NOT_FOUND' })
  await enqueue(other.id)
})

test('F9: every part is found by an index', async (t) => {
  const { store } = await openTestCore(t)
  for (const part of [QUEUE, CONTENTS, ...listParts(tables, 'deletion')]) {
    for (const query of [part.find, part.count, part.erase] as Statement<unknown>[]) {
      for (const detail of await planOf(store, query.compiled().text)) {
        assert.doesNotMatch(detail, /^SCAN (?!\(subquery|value|json_each)/, part.table)
      }
    }
  }
})

test('the deletion of an emptied project looks up its rows by indexes', async (t) => {
  const { store } = await openTestCore(t)
  for (const { name, foreignKeys } of await listAll(store.read)) {
    for (const { from } of foreignKeys) {
      const [plan = ''] = await planOf(store, `select 1 from ${name} where ${from} = ?`)
      assert.match(plan, /^SEARCH/, `${name}.${from}`)
    }
  }
  const plan = await planOf(store, 'delete from events where project_id = ?')
  assert.match(plan.join(), /^SEARCH/)
})

async function planOf({ read }: TestCore['store'], text: string): Promise<string[]> {
  const plan = await read.all<{ detail: string }>(
    sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
  )
  return plan.map(({ detail }) => detail)
}

/** The project with a delivered email whose event billing has not read, and the job that erases it. */
async function setUpUnbilled(t: TestContext, kind: 'reset-project' | 'delete-project') {
  const core = await openTestCore(t)
  const { id } = await addProject(core)
  const ledger = createLedger(core.store)
  const email = await ledger.send({ projectId: id, at: START, domain: 'firm.test' })
  await passFollowers(core)
  await ledger.deliver(email, START)
  await core.store.write((tx) =>
    tx.update(projects).set({ customer: 'cus_1' }).where(eq(projects.id, id)),
  )
  await (kind === 'reset-project' ? resetProject(core, id) : deleteProject(core, id))
  const [job] = await core.store.write((tx) =>
    claimJobs(tx, { kinds: [kind], limit: 1, now: START, leaseUntil: START + 60_000 }),
  )
  assert.ok(job)
  const abort = new AbortController()
  const running = { ...job, attempt: 1, signal: abort.signal, setPercent: async () => undefined }
  const waiting = () =>
    core.store.read
      .select({ name: deletedEvents.name, domain: deletedEvents.recipientDomain })
      .from(deletedEvents)
  return { core, id, running, abort, waiting }
}

test('billing reads the events of an erased project with the facts of their emails, and then they go', async (t) => {
  for (const kind of ['reset-project', 'delete-project'] as const) {
    const { core, id, running, waiting } = await setUpUnbilled(t, kind)
    // Only billing is behind.
    await core.store.write((tx) =>
      tx
        .update(eventFollowers)
        .set({ seq: sql`(select max(seq) from events)` })
        .where(eq(eventFollowers.name, 'reputation')),
    )
    const run = kind === 'reset-project' ? runReset : runDeletion
    const erasure = run(core, running)
    while ((await core.store.read.$count(emails)) > 0) await pause()
    assert.deepEqual(await waiting(), [
      { name: 'email.sent', domain: 'firm.test' },
      { name: 'email.delivery', domain: 'firm.test' },
    ])
    await passFollowers(core)
    await erasure
    assert.deepEqual(await waiting(), [])
    const project = await findProject(core, id)
    assert.equal(project?.resetSince ?? null, null)
    assert.equal(project === undefined, kind === 'delete-project')
  }
})

test('a project that pays is not gone before billing has read its events', async (t) => {
  const { core, id, running, abort, waiting } = await setUpUnbilled(t, 'delete-project')
  const warnings: string[] = []
  const warn = (_facts: object, text: string) => warnings.push(text)
  const log = { ...core.log, warn } as unknown as TestCore['log']
  const wait = { projectId: id, signal: abort.signal, standstillMs: 0 }
  const erasure = runDeletion(core, running)
  while ((await waiting()).length === 0) await pause()
  assert.equal(await untilBilled({ store: core.store, log }, wait), false)
  assert.deepEqual(warnings, ['billing has not counted all events of an erased project'])
  abort.abort()
  await assert.rejects(erasure)
  assert.ok(await findProject(core, id))
  assert.equal((await waiting()).length, 2)
})
