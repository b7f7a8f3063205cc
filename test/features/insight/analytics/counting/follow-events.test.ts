import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { appendEvents } from '../../../../../src/features/ground/events/append.ts'
import { startLazyReader } from '../../../../../src/features/ground/events/readers.ts'
import { deleteExpiredQuarters } from '../../../../../src/features/insight/analytics/buckets.ts'
import { analyticsHandler } from '../../../../../src/features/insight/analytics/counting/follow-events.ts'
import { resetProject } from '../../../../../src/features/operation/erasure/end-project.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import {
  analyticsSubjects,
  deletedEvents,
  eventCounts,
} from '../../../../../src/store/schema/analytics.ts'
import { eventFollowers } from '../../../../../src/store/schema/events.ts'
import {
  addProject,
  openTestCore,
  START,
  type TestCore,
  type TestCoreOptions,
} from '../../../../core.ts'
import { work } from '../../../operation/erasure/work.ts'
import { createLedger, type Row, readCounts } from './ledger.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const QUARTER_MS = 900_000

/** Nothing is counted before `counts`, which starts a follower and ends it again. */
async function open(t: TestContext, options: TestCoreOptions = {}) {
  const core = await openTestCore(t, options)
  const { id: projectId } = await addProject(core)
  const ledger = createLedger(core.store)
  const counts = async () => {
    const follower = startLazyReader(core, [analyticsHandler(core)])
    await follower.caughtUp()
    await follower.stop()
    return readCounts(core.store.read)
  }
  /** The counts of mail in quarters. */
  const mail = async (kind = 'all') => {
    const rows = (await counts()).filter(
      (row) => row.table === 'mail' && row.kind === kind && row.span === QUARTER_MS,
    )
    return rows.map(figuresOf)
  }
  const check = async () => assert.deepEqual(await counts(), ledger.expected())
  return { core, store: core.store, projectId, ledger, counts, mail, check }
}

function figuresOf(row: Row): Row {
  const { table: _, projectId: _2, span: _3, startsAt: _4, kind: _5, stream: _6, ...figures } = row
  return figures
}

test('an email counts where it was accepted, with its provider, campaign and template; an event where it happened', async (t) => {
  const { projectId, ledger, counts, check } = await open(t)
  const about = { campaignId: 'c1', templateId: 't1', source: 'CAMPAIGN' } as const
  const id = await ledger.send({ projectId, at: START + 1, ...about })
  await ledger.deliver(id, START + 2 * DAY_MS)
  await check()
  const found = await counts()
  const quarters = found.filter(({ span }) => span === QUARTER_MS)
  const mail = quarters.filter(({ table }) => table === 'mail')
  assert.deepEqual(
    mail.map(({ kind, name, startsAt, stream }) => [kind, name, startsAt, stream]),
    [
      ['all', '', START, 'CAMPAIGN'],
      ['campaign', 'c1', START, 'CAMPAIGN'],
      ['provider', 'Gmail', START, 'CAMPAIGN'],
      ['template', 't1', START, 'CAMPAIGN'],
    ],
  )
  const events = quarters.filter(({ table }) => table === 'events')
  assert.deepEqual(
    events.map(({ name, startsAt, events }) => [name, startsAt, events]),
    [
      ['email.delivery', START + 2 * DAY_MS, 1],
      ['email.sent', START + 2 * DAY_MS, 1],
    ],
  )
  assert.equal(found.length, 2 * quarters.length, 'a row of each length')
})

test('a bounce after the delivery takes the delivery back; one in the session counts as sent', async (t) => {
  const { projectId, ledger, mail, check } = await open(t)
  const [late, refused] = [
    await ledger.send({ projectId, at: START }),
    await ledger.send({ projectId, at: START }),
  ]
  await ledger.deliver(late, START)
  await ledger.bounce(refused, START, { type: 'Undetermined' })
  assert.deepEqual(await mail(), [{ name: '', sent: 2, delivered: 1, soft_bounced: 1 }])
  await ledger.bounce(late, START + MINUTE_MS)
  assert.deepEqual(await mail(), [{ name: '', sent: 2, hard_bounced: 1, soft_bounced: 1 }])
  await check()
})

test('a delay, a failure and a suppression count nothing but their events', async (t) => {
  const { projectId, ledger, mail, check } = await open(t)
  const id = await ledger.send({ projectId, at: START })
  await ledger.defer(id, START)
  await ledger.fail(id, START)
  assert.deepEqual(await mail(), [])
  await check()
})

test('only the first open and click of an email count, and both together at the later one', async (t) => {
  const { projectId, ledger, mail, check } = await open(t)
  const ids = await Promise.all([1, 2, 3].map(() => ledger.send({ projectId, at: START })))
  const [opened = '', clicked = '', same = ''] = ids
  await ledger.open(opened, START + 1)
  await ledger.open(opened, START + 2)
  assert.deepEqual(await mail(), [{ name: '', opened: 1 }])
  await ledger.click(opened, START + 3, 'https://a.test')
  await ledger.click(clicked, START + 4, 'https://a.test')
  await ledger.open(clicked, START + 5)
  await ledger.click(same, START + 6, 'https://b.test')
  await ledger.open(same, START + 6)
  await ledger.click(same, START + 7, 'https://a.test')
  assert.deepEqual(await mail(), [{ name: '', opened: 3, clicked: 3, opened_and_clicked: 3 }])
  await check()
})

test('an email unsubscribes once, and not by its bounce or complaint', async (t) => {
  const { projectId, ledger, mail, check } = await open(t)
  const first = await ledger.send({ projectId, at: START })
  const { contactId = '' } = ledger.emails()[0] ?? {}
  const second = await ledger.send({ projectId, at: START, contactId })
  await ledger.complain(first, START)
  await ledger.unsubscribe(first, START, 'complaint')
  assert.deepEqual(await mail(), [{ name: '', complained: 1 }])
  await ledger.unsubscribe(first, START + 1)
  await ledger.unsubscribe(second, START + 2)
  await ledger.unsubscribe(first, START + 3)
  assert.deepEqual(await mail(), [{ name: '', complained: 1, unsubscribed: 2 }])
  await check()
})

test('tests of campaigns and mail of the server count nothing; received mail counts as an event', async (t) => {
  const { projectId, ledger, counts, check } = await open(t)
  const about = { projectId, at: START }
  const test = await ledger.send({ ...about, isTest: true, source: 'CAMPAIGN' })
  const platform = await ledger.send({ ...about, isPlatform: true })
  for (const id of [test, platform]) {
    await ledger.deliver(id, START)
    await ledger.click(id, START, 'https://a.test')
  }
  assert.deepEqual(await counts(), [])
  await ledger.receive(await ledger.send({ ...about, source: 'INBOUND' }), START)
  const names = (await counts()).map(({ table, name, stream }) => [table, name, stream])
  assert.deepEqual(names, [
    ['events', 'email.received', ''],
    ['events', 'email.received', ''],
  ])
  await check()
})

test('what is deleted before it is counted counts all the same, and then leaves nothing behind', async (t) => {
  const { store, projectId, ledger, check } = await open(t)
  const id = await ledger.send({ projectId, at: START, domain: 'firm.test' })
  await ledger.deliver(id, START, 'aspmx.l.google.com')
  await ledger.open(id, START)
  await ledger.click(id, START + 1, 'https://a.test')
  await ledger.unsubscribe(id, START + 2)
  await ledger.unsubscribe(id, START + 3)
  await ledger.track(projectId, 'bought', START)
  await ledger.deleteContact(id)
  await ledger.deleteEvents('bought')
  assert.equal(await store.read.$count(deletedEvents), 7)
  await check()
  assert.equal(await store.read.$count(deletedEvents), 7, 'billing has not read them')
  await passBilling(store)
  assert.equal(await store.read.$count(deletedEvents), 0)
  await ledger.track(projectId, 'bought', START)
  await check()
  await passBilling(store)
  await ledger.deleteEvents('bought')
  assert.equal(await store.read.$count(deletedEvents), 0, 'counted events need no copy')
  await check()
})

test('a second unsubscription by an email counts nothing when the first was counted before its deletion', async (t) => {
  const { store, projectId, ledger, check } = await open(t)
  const id = await ledger.send({ projectId, at: START })
  await ledger.unsubscribe(id, START)
  await check()
  await passBilling(store)
  await ledger.unsubscribe(id, START + 1)
  await ledger.deleteContact(id)
  await check()
})

test('the server that took the email names its provider when the domain does not', async (t) => {
  const { projectId, ledger, mail, check } = await open(t)
  const send = () => ledger.send({ projectId, at: START, domain: 'firm.test' })
  const [workspace, business, own] = [await send(), await send(), await send()]
  const consumer = await ledger.send({ projectId, at: START })
  await ledger.deliver(workspace, START, 'ALT1.aspmx.l.google.com')
  await ledger.deliver(business, START, 'firm-test.mail.protection.outlook.com')
  await ledger.deliver(own, START, 'notgoogle.com')
  await ledger.deliver(consumer, START, 'mx.filter.test')
  for (const id of [workspace, business, own, consumer]) await ledger.open(id, START)
  const delivered = { sent: 1, delivered: 1, opened: 1 }
  assert.deepEqual(await mail('provider'), [
    { name: 'Gmail', ...delivered },
    { name: 'Google Workspace', ...delivered },
    { name: 'Microsoft 365', ...delivered },
    { name: 'Other', ...delivered },
  ])
  await ledger.bounce(workspace, START + 1)
  const workspaceNow = { name: 'Google Workspace', sent: 1, opened: 1, hard_bounced: 1 }
  assert.deepEqual((await mail('provider'))[1], workspaceNow)
  await check()
})

test('a smarthost is no provider, whether it takes or refuses the email', async (t) => {
  const smarthost = 'us.mail.protection.outlook.com'
  const settings = {
    PILLARBOX_DELIVERY__MODE: 'relay',
    PILLARBOX_DELIVERY__RELAY__HOST: smarthost,
  }
  const { projectId, ledger, mail } = await open(t, { settings })
  const send = () => ledger.send({ projectId, at: START, domain: 'firm.test' })
  const [taken, refused] = [await send(), await send()]
  await ledger.defer(taken, START, smarthost)
  await ledger.relay(taken, START, smarthost)
  await ledger.bounce(refused, START, { host: smarthost })
  assert.deepEqual(await mail('provider'), [{ name: 'Other', sent: 2, hard_bounced: 1 }])
  await ledger.bounce(taken, START + 1, { host: 'aspmx.l.google.com' })
  assert.deepEqual(await mail('provider'), [{ name: 'Other', sent: 2, hard_bounced: 2 }])
})

test('a project has 1,000 new links and 1,000 new names of events a day; the rest counts as one', async (t) => {
  const { store, projectId, ledger, counts } = await open(t)
  const id = await ledger.send({ projectId, at: START })
  await store.write((tx) =>
    appendEvents(
      tx,
      Array.from({ length: 1_005 }, (_, index) => [
        { ...eventOf(projectId), name: `name ${index}` },
        { ...eventOf(projectId), name: 'email.click', emailId: id, data: { link: `l${index}` } },
      ]).flat(),
    ),
  )
  const count = async (table: string, name: string, startsAt = START - (START % DAY_MS)) => {
    const is = (row: Row) => row.table === table && row.name === name && row.startsAt === startsAt
    const row = (await counts()).find((each) => is(each) && each.span === DAY_MS)
    return row?.events ?? row?.clicks
  }
  // `email.click` is one of the thousand, but would have counted in any case.
  assert.equal(await count('events', ''), 6)
  assert.equal(await count('links', ''), 5)
  assert.equal(await count('events', 'email.click'), 1_005)
  assert.equal(await store.read.$count(analyticsSubjects, eq(analyticsSubjects.kind, 'url')), 1_001)
  const tomorrow = START + DAY_MS
  await ledger.track(projectId, 'name 1004', tomorrow)
  await ledger.track(projectId, 'name 1003', START)
  await ledger.track(projectId, 'name 3', START)
  await ledger.fail(id, START)
  assert.equal(await count('events', 'name 1004', tomorrow - (tomorrow % DAY_MS)), 1)
  assert.equal(await count('events', ''), 7)
  assert.equal(await count('events', 'name 3'), 2)
  assert.equal(await count('events', 'email.failed'), 1, 'an event of the service always counts')
})

test('a reset leaves no counts, and no event from before it counts later', async (t) => {
  const { core, store, projectId, ledger, counts } = await open(t)
  const id = await ledger.send({ projectId, at: START })
  await ledger.deliver(id, START)
  await ledger.click(id, START, 'https://a.test')
  await counts()
  await ledger.open(id, START)
  await ledger.track(projectId, 'bought', START)
  await ledger.deleteEvents('bought')
  await resetProject(core, projectId)
  assert.notDeepEqual(await readCounts(store.read), [])
  await work(core)
  assert.deepEqual(await counts(), [])
  assert.equal(await store.read.$count(deletedEvents), 0)
  assert.equal(await store.read.$count(analyticsSubjects), 0)
  const after = createLedger(store)
  const again = await after.send({ projectId, at: START })
  await after.deliver(again, START)
  await after.click(again, START, 'https://a.test')
  assert.deepEqual(await counts(), after.expected())
})

test('numbers of subjects that a reset has erased are not used again', async (t) => {
  const { core, store, projectId } = await open(t)
  const { id: other } = await addProject(core, 'Other')
  const follower = startLazyReader(core, [analyticsHandler(core)])
  t.after(follower.stop)
  const before = createLedger(store)
  await before.track(projectId, 'mine', START)
  await follower.caughtUp()
  await resetProject(core, projectId)
  await work(core)
  const after = createLedger(store)
  await after.track(other, 'theirs', START)
  await follower.caughtUp()
  await after.track(projectId, 'mine', START)
  await follower.caughtUp()
  assert.deepEqual(await readCounts(store.read), after.expected())
})

test('a project that is being reset or was deleted counts nothing', async (t) => {
  const { core, store, projectId, ledger, counts } = await open(t)
  await ledger.track(projectId, 'bought', START)
  const set = (values: Partial<typeof projects.$inferInsert>) =>
    store.write((tx) => tx.update(projects).set(values).where(eq(projects.id, projectId)))
  await set({ resetSince: START })
  assert.deepEqual(await counts(), [])
  await set({ resetSince: null, deletedAt: START })
  await ledger.track(projectId, 'bought', START)
  await ledger.track('gone', 'bought', START)
  assert.deepEqual(await counts(), [])
  assert.equal(core.clock.now, START)
})

test('quarters are kept for 100 days, days for good', async (t) => {
  const { core, store, projectId, ledger, counts } = await open(t)
  const id = await ledger.send({ projectId, at: START, campaignId: 'c1' })
  await ledger.deliver(id, START)
  await ledger.click(id, START, 'https://a.test')
  const all = await counts()
  const days = all.filter(({ span }) => span === DAY_MS)
  assert.equal(all.length, 2 * days.length)
  core.clock.now = START + 100 * DAY_MS
  await deleteExpiredQuarters(core)
  assert.deepEqual(await readCounts(store.read), all)
  core.clock.now += 1
  await deleteExpiredQuarters(core)
  assert.deepEqual(await readCounts(store.read), days)
  // A late event of the email makes no new one.
  await ledger.bounce(id, core.clock.now)
  const late = await counts()
  const ofEmail = late.filter(({ table }) => table === 'mail')
  assert.deepEqual([...new Set(ofEmail.map(({ span }) => span))], [DAY_MS])
  assert.deepEqual(
    ofEmail.map(({ delivered = 0 }) => delivered),
    [0, 0, 0],
  )
})

test('many expired quarters are deleted, and a run that is stopped deletes no more', async (t) => {
  const { core, store, projectId } = await open(t)
  await store.write((tx) =>
    tx.run(sql`insert into event_counts (project_id, span, starts_at, stream, subject, events)
      select ${projectId}, 900000, value, '', 1, 1 from json_each(${JSON.stringify(
        Array.from({ length: 1_500 }, (_, index) => index),
      )})`),
  )
  const left = () => store.read.$count(eventCounts)
  await deleteExpiredQuarters(core, AbortSignal.abort())
  assert.equal(await left(), 1_500)
  await deleteExpiredQuarters(core)
  assert.equal(await left(), 0)
})

const eventOf = (projectId: string) => ({
  ...{ projectId, contactId: null, emailId: null, at: START },
  data: null as Record<string, unknown> | null,
})

function passBilling(store: TestCore['store']): Promise<unknown> {
  return store.write((tx) =>
    tx
      .update(eventFollowers)
      .set({ seq: sql`(select seq from sqlite_sequence where name = 'events')` })
      .where(eq(eventFollowers.name, 'billing')),
  )
}
