import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { TRANSACTIONAL_CLASS } from '../../../../src/base/queue-class.ts'
import { countEmailsByStatus } from '../../../../src/features/insight/emails/count-by-status.ts'
import { chooseEmailPath } from '../../../../src/features/insight/emails/email-path.ts'
import type { AskedSource } from '../../../../src/features/insight/emails/email-source.ts'
import { type EmailQuery, isNamed } from '../../../../src/features/insight/emails/list-emails.ts'
import { selectPathStretch } from '../../../../src/features/insight/emails/path-rows.ts'
import {
  findWaiting,
  listWaiting,
  listWaitingInLanes,
} from '../../../../src/features/insight/emails/waiting-emails.ts'
import type { QueueLane } from '../../../../src/features/mail/messages/queue/notifier.ts'
import { sealCursor } from '../../../../src/records/cursor.ts'
import { EMAIL_STATUSES, WAITING_STATES } from '../../../../src/records/words.ts'
import { compileSql } from '../../../../src/store/database.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { attempts, type Email, emails } from '../../../../src/store/schema/messages.ts'
import type { EmailStatus } from '../../../../src/store/schema/words.ts'
import { runFor } from '../../../../src/turns/owner.ts'
import { addProject, address, type TestCore } from '../../../core.ts'
import { listEmails, showEmail } from '../../../lists.ts'
import { setEmails } from '../../../set-emails.ts'
import { addSenderProject, openSender } from '../../mail/messages/sender.ts'

type NewAttempt = typeof attempts.$inferInsert
type Added = { to: string; change?: Partial<Email> }

async function open(t: TestContext) {
  const sender = await openSender(t)
  const { core, clock, project } = sender
  core.outbound.sites = () => []
  core.outbound.progressOf = async () => undefined
  core.outbound.preview = async (sources) => sources.map(() => null)
  const list = (query: Partial<EmailQuery & AskedSource> = {}) =>
    listEmails(core, { projectId: project.id, limit: 20, ...query })
  return {
    core,
    clock,
    project,
    list,
    ids: async (query: Partial<EmailQuery & AskedSource> = {}) =>
      (await list(query)).data.map(({ id }) => id),
    /** Emails a minute apart, oldest first; their ids. */
    async add(...rows: Added[]): Promise<string[]> {
      const ids: string[] = []
      for (const { to, change = {} } of rows) {
        clock.now += 60_000
        const { emails: sent } = await sender.send({ to: [{ address: address(to), name: null }] })
        const id = sent[0]?.email as string
        ids.push(id)
        if (Object.keys(change).length === 0) continue
        await core.store.write((tx) => setEmails(tx, change, eq(emails.id, id)))
      }
      return ids
    },
  }
}

const delivered = {
  status: 'DELIVERED',
  state: 'delivered',
  dueAt: null,
  sentAt: 1,
  deliveredAt: 1,
} as const

/** An attempt that failed. */
function attemptAt(emailId: string, host: string): NewAttempt {
  return { emailId, at: 1, durationMs: 1, result: 'deferred', host, steps: [] }
}

const failed = { status: 'FAILED', state: 'failed', dueAt: null } as const
const bounced = { status: 'BOUNCED', state: 'bounced', dueAt: null } as const

test('emails are listed newest first, those of the project only', async (t) => {
  const { core, list, ids, add } = await open(t)
  const [first, second] = await add({ to: 'ada@dest.test' }, { to: 'bob@other.test' })
  assert.deepEqual(await ids(), [second, first])
  const other = await addSenderProject(core, 'Other', 'other.test')
  assert.deepEqual(await list({ projectId: other.id }), {
    ...{ data: [], cursor: null, hasMore: false },
    total: 0,
  })
  const { data } = await list({ limit: 1 })
  assert.equal(data[0]?.recipientAddress, 'bob@other.test')
  assert.equal('body' in Object(data[0]), false)
})

test('each filter finds its emails, alone and with others', async (t) => {
  const { core, project, ids, add } = await open(t)
  const campaignId = newId()
  const templateId = newId()
  const [ada, bob, eve, again] = await add(
    { to: 'ada@dest.test', change: { templateId } },
    { to: 'bob@other.test', change: { ...failed, campaignId } },
    { to: 'eve@dest.test', change: { ...bounced, campaignId, templateId } },
    { to: 'ada@dest.test', change: { ...failed, sourceType: 'WORKFLOW' } },
  )
  const contactOf = async (id: string | undefined) =>
    (
      await core.store.read
        .select()
        .from(emails)
        .where(eq(emails.id, String(id)))
        .get()
    )?.contactId
  assert.deepEqual(await ids({ statuses: ['FAILED'] }), [again, bob])
  assert.deepEqual(await ids({ statuses: ['FAILED', 'BOUNCED'] }), [again, eve, bob])
  assert.deepEqual(await ids({ statuses: ['FAILED', 'FAILED'] }), [again, bob])
  assert.deepEqual(await ids({ statuses: ['PENDING'] }), [ada])
  assert.deepEqual(await ids({ statuses: ['PENDING', 'FAILED'] }), [again, bob, ada])
  assert.deepEqual(await ids({ source: 'WORKFLOW' }), [again])
  assert.deepEqual(await ids({ domain: 'dest.test' }), [again, eve, ada])
  assert.deepEqual(await ids({ contactId: await contactOf(ada) }), [again, ada])
  assert.deepEqual(await ids({ contactId: await contactOf(ada), statuses: ['FAILED'] }), [again])
  assert.deepEqual((await ids({ campaignId })).sort(), [bob, eve].sort())
  assert.deepEqual(await ids({ campaignId, templateId }), [eve])
  assert.deepEqual(await ids({ templateId }), [eve, ada])
  const { createdAt } = Object(
    await core.store.read
      .select()
      .from(emails)
      .where(eq(emails.id, String(bob)))
      .get(),
  )
  assert.deepEqual(await ids({ startAt: createdAt }), [again, eve, bob])
  assert.deepEqual(await ids({ endAt: createdAt }), [bob, ada])
  assert.deepEqual(await ids({ startAt: createdAt, endAt: createdAt, statuses: ['FAILED'] }), [bob])
  assert.deepEqual(await ids({ templateId, startAt: createdAt }), [eve])
  // Another project's contact, campaign and template have no emails here.
  const { id } = await addProject(core as TestCore)
  for (const filter of [{ campaignId }, { templateId }, { contactId: await contactOf(ada) }]) {
    assert.deepEqual(await ids({ ...filter, projectId: id }), [])
  }
  assert.equal(project.id === id, false)
})

test('an email of a list has its next attempt, its attempts and its receiver', async (t) => {
  const { core, clock, project, list, add } = await open(t)
  const dueAt = clock.now + 3_600_000
  const later = { state: 'deferred', status: 'PENDING', dueAt, attemptCount: 2 } as const
  const [, waiting = ''] = await add({ to: 'a@gmail.com' }, { to: 'b@ours.test', change: later })
  await core.store.write(async (tx) => {
    await tx.insert(attempts).values([attemptAt(waiting, 'aspmx.l.google.com')])
  })
  const { data } = await list()
  assert.deepEqual(
    data.map(({ receiver, attempts: tries, nextAttemptAt }) => [receiver, tries, nextAttemptAt]),
    [
      ['Google Workspace', 2, new Date(dueAt).toISOString()],
      ['Gmail', 0, new Date(clock.now - 60_000).toISOString()],
    ],
  )
  const shown = await showEmail(core, { projectId: project.id, id: waiting })
  assert.equal(shown.receiver, 'Google Workspace')
})

test('waiting mail is found by its state among mail that arrived, on every page', async (t) => {
  const { core, clock, ids, list, add } = await open(t)
  const held = { state: 'held', dueAt: null, heldAt: 1, shelf: 1 } as const
  const [queued, late, parked, sending, gone] = await add(
    { to: 'a@dest.test' },
    { to: 'b@dest.test', change: { state: 'deferred', dueAt: clock.now, attemptCount: 1 } },
    { to: 'c@dest.test', change: held },
    {
      to: 'd@dest.test',
      change: { state: 'sending', status: 'SENDING', dueAt: null, leaseUntil: clock.now + 9e6 },
    },
    { to: 'e@dest.test', change: delivered },
  )
  assert.deepEqual(await ids({ states: ['deferred'] }), [late])
  assert.deepEqual(await ids({ states: ['held', 'sending'] }), [sending, parked])
  assert.deepEqual(await ids({ states: ['delivered', 'queued'] }), [gone, queued])
  assert.deepEqual(await ids({ states: ['queued'], domain: 'other.test' }), [])
  assert.deepEqual(await ids({ states: ['queued'], search: 'a@' }), [queued])
  const waiting = { states: [...WAITING_STATES], limit: 3 }
  const first = await list(waiting)
  const second = await list({ ...waiting, cursor: String(first.cursor) })
  assert.deepEqual(
    [...first.data, ...second.data].map(({ id }) => id),
    [sending, parked, late, queued],
  )
  assert.deepEqual([first.total, second.cursor], [4, null])
  assert.equal((await list({ ...waiting, isCounted: false })).total, 0)
  assert.equal((await list({ ...waiting, limit: 4, isCounted: false })).total, 4)
  const other = await addSenderProject(core, 'Other', 'other.test')
  assert.deepEqual(await ids({ ...waiting, projectId: other.id }), [])
})

test('tests, receivers and sources have filters', async (t) => {
  const { core, project, ids, add } = await open(t)
  const templateId = newId()
  const relayed = { ...delivered, state: 'relayed', status: 'SENT', deliveredAt: null } as const
  const [test1, gmail, workspace, outlook, business, none, smart] = await add(
    { to: 'a@dest.test', change: { isTest: true, templateId } },
    { to: 'b@googlemail.com' },
    { to: 'c@ours.test', change: delivered },
    { to: 'd@ours2.test', change: delivered },
    { to: 'e@ours3.test', change: delivered },
    { to: 'f@ours4.test', change: delivered },
    { to: 'g@ours5.test', change: relayed },
  )
  const hosts: [string | undefined, string][] = [
    [workspace, 'ASPMX.L.google.com'],
    [workspace, 'mx.zoho.com'],
    [outlook, 'x.olc.protection.outlook.com'],
    [business, 'x.mail.protection.outlook.com'],
    [none, 'notgoogle.com'],
  ]
  await core.store.write(async (tx) => {
    const rows = hosts.map(([id = '', host]) => attemptAt(id, host))
    const handed = { ...attemptAt(smart ?? '', 'mx.google.com'), result: 'relayed' as const }
    await tx.insert(attempts).values([...rows, handed])
  })
  const byReceiver: [string, (string | undefined)[]][] = [
    ['Gmail', [gmail]],
    ['Google Workspace', [workspace]],
    ['Outlook', [outlook]],
    ['Microsoft 365', [business]],
    ['Other', [smart, none, test1]],
    ['Zoho', []],
  ]
  for (const [receiver, wanted] of byReceiver) {
    assert.deepEqual(await ids({ receiver }), wanted, receiver)
  }
  for (const { id, receiver } of (await listEmails(core, { projectId: project.id, limit: 20 }))
    .data) {
    assert.ok((await ids({ receiver })).includes(id), receiver)
  }
  assert.deepEqual(await ids({ isTest: true }), [test1])
  assert.equal((await ids({ isTest: false })).length, 6)
  assert.deepEqual(await ids({ sourceId: templateId }), [test1])
  assert.deepEqual(await ids({ sourceId: newId() }), [])
})

test('counts are those of the list by status, and none beyond the limit', async (t) => {
  const { core, project, add } = await open(t)
  const { id: projectId } = project
  await add({ to: 'a@dest.test' }, { to: 'b@dest.test', change: { ...failed, shelf: 6 } })
  await add({ to: 'c@gmail.com', change: delivered }, { to: 'd@gmail.com', change: delivered })
  const none = Object.fromEntries(EMAIL_STATUSES.map((name) => [name, 0]))
  const counted = async (filter: object, limits?: { most: number; stretch: number }) =>
    countEmailsByStatus(core, { projectId, ...filter }, limits)
  assert.deepEqual(await counted({}), {
    ...{ counts: { ...none, PENDING: 1, FAILED: 1, DELIVERED: 2 }, total: 4, tooMany: false },
  })
  assert.deepEqual((await counted({ receiver: 'Gmail' })).counts, { ...none, DELIVERED: 2 })
  assert.deepEqual((await counted({ search: 'a@' })).counts, { ...none, PENDING: 1 })
  assert.deepEqual((await counted({ states: ['queued'] })).counts, { ...none, PENDING: 1 })
  assert.deepEqual((await counted({ statuses: ['FAILED'] })).counts, { ...none, FAILED: 1 })
  const { data } = await listEmails(core, { projectId, limit: 1 })
  assert.deepEqual((await counted({ search: data[0]?.id })).counts, { ...none, DELIVERED: 1 })
  const tooMany = { counts: null, total: null, tooMany: true }
  assert.deepEqual(await counted({}, { most: 2, stretch: 1 }), tooMany)
  assert.deepEqual(await counted({}, { most: 4, stretch: 1 }), await counted({}))
  assert.deepEqual(await counted({}, { most: 3, stretch: 10 }), tooMany)
  const other = await addSenderProject(core, 'Other', 'other.test')
  assert.equal((await counted({ projectId: other.id })).total, 0)
})

test('a count of more than half a second ends without counts', async (t) => {
  const { core, clock, project, add } = await open(t)
  const { id: projectId } = project
  await add({ to: 'a@dest.test' }, { to: 'b@dest.test' }, { to: 'c@dest.test' })
  const { scan } = core.store
  const counted = async (ms: number) => {
    const all: typeof scan.all = (query) => {
      clock.now += ms
      return scan.all(query)
    }
    const store = { ...core.store, scan: withAll(scan, all) }
    const limits = { most: 9, stretch: 1 }
    const { total, tooMany } = await countEmailsByStatus({ ...core, store }, { projectId }, limits)
    return [total, tooMany]
  }
  assert.deepEqual(await counted(0), [3, false])
  assert.deepEqual(await counted(60), [3, false])
  assert.deepEqual(await counted(200), [null, true])
})

test('a count by status begins no scan after half a second, wherever it is', async (t) => {
  const { core, clock, project, add } = await open(t)
  const { id: projectId } = project
  await add({ to: 'a@dest.test' }, { to: 'b@dest.test', change: { ...failed, shelf: 6 } })
  /** Counts with a scan that takes longer than a count may, and returns how many scans began. */
  const scansOf = async (filter: object, late: number) => {
    let scans = 0
    const scan = new Proxy(core.store.scan, {
      get(reader, name) {
        const value = Reflect.get(reader, name)
        if (typeof value !== 'function') return value
        return (...input: unknown[]) => {
          scans += 1
          if (scans === late) clock.now += 500
          return value.apply(reader, input)
        }
      },
    })
    const deps = { ...core, store: { ...core.store, scan } }
    const { tooMany } = await countEmailsByStatus(deps, { projectId, ...filter })
    return { scans, tooMany }
  }
  for (const filter of [
    ...[{}, { states: ['queued'] }, { search: 'a@' }, { receiver: 'Other' }],
    ...[{ statuses: ['FAILED'] }, { statuses: ['PENDING'], search: 'a@' }],
  ]) {
    const name = JSON.stringify(filter)
    const whole = await scansOf(filter, 0)
    assert.equal(whole.tooMany, false, name)
    for (let late = 1; late < whole.scans; late += 1) {
      assert.deepEqual(await scansOf(filter, late), { scans: late, tooMany: true }, name)
    }
  }
})

test('a project counts by status four times at once, as it counts lists', async (t) => {
  const { core, project } = await open(t)
  const { scan } = core.store
  const gate = Promise.withResolvers<void>()
  const full = Promise.withResolvers<void>()
  let running = 0
  const all = async (query: Parameters<typeof scan.all>[0]) => {
    running += 1
    if (running === 4) full.resolve()
    await gate.promise
    return scan.all(query)
  }
  const deps = { ...core, store: { ...core.store, scan: withAll(scan, all) } }
  const owner = { key: project.id, isJob: false }
  const counts = Array.from({ length: 6 }, () =>
    runFor(owner, () => countEmailsByStatus(deps, { projectId: project.id })),
  )
  await full.promise
  await setImmediate()
  assert.equal(running, 4)
  gate.resolve()
  assert.equal((await Promise.all(counts)).length, 6)
})

test('rows of another project are not even passed over, as a cursor would show them', async (t) => {
  const { core, add } = await open(t)
  const campaignId = newId()
  const templateId = newId()
  await add({ to: 'ada@dest.test', change: { campaignId, templateId } })
  const { projectId, contactId } = Object(await core.store.read.select().from(emails).get())
  const { id: otherId } = await addProject(core as TestCore)
  for (const filter of [{ campaignId }, { templateId }, { contactId }]) {
    const branchesFor = async (id: string) =>
      (await chooseEmailPath(core, { projectId: id, ...filter })).branches.length
    assert.deepEqual([await branchesFor(projectId), await branchesFor(otherId)], [1, 0])
  }
})

test('a search finds an address by its beginning, an id, and a Message-ID', async (t) => {
  const { ids, add } = await open(t)
  const [ada, adam, custom] = await add(
    { to: 'ada@dest.test' },
    { to: 'adam@dest.test' },
    { to: 'eve@dest.test', change: { messageId: 'order-5@shop.example' } },
  )
  assert.deepEqual(await ids({ search: 'ada' }), [adam, ada])
  assert.deepEqual(await ids({ search: 'ADA@' }), [ada])
  assert.deepEqual(await ids({ search: 'ada@dest.test', statuses: ['FAILED'] }), [])
  assert.deepEqual(await ids({ search: ada as string }), [ada])
  assert.deepEqual(await ids({ search: String(ada).toUpperCase() }), [ada])
  assert.deepEqual(await ids({ search: `<${ada}@example.test>` }), [ada])
  assert.deepEqual(await ids({ search: `${ada}@example.test` }), [ada])
  assert.deepEqual(await ids({ search: `${ada}@elsewhere.test` }), [])
  assert.deepEqual(await ids({ search: 'order-5@shop.example' }), [custom])
  assert.deepEqual(await ids({ search: '<order-6@shop.example>' }), [])
  assert.deepEqual(await ids({ search: newId() }), [])
  assert.deepEqual(await ids({ search: 'nobody' }), [])
})

test('an address that a contact had before still finds the mail to it', async (t) => {
  const { core, list, ids, add } = await open(t)
  const campaignId = newId()
  const [first, other, second] = await add(
    { to: 'old@dest.test', change: { campaignId } },
    { to: 'eve@dest.test' },
    { to: 'old@dest.test' },
  )
  await core.store.write((tx) =>
    tx
      .update(contacts)
      .set({ address: 'new@dest.test' })
      .where(eq(contacts.address, 'old@dest.test')),
  )
  assert.deepEqual(await ids({ search: 'old@dest.test' }), [second, first])
  assert.deepEqual(await ids({ search: 'old@dest.test', campaignId }), [first])
  assert.deepEqual(await ids({ search: 'new@dest.test' }), [second, first])
  assert.deepEqual(await ids({ search: 'eve' }), [other])
  // The address, and one that begins with it, belong to others now.
  const [third, longer] = await add({ to: 'old@dest.test' }, { to: 'old@dest.tests' })
  const whole = [longer, third, second, first]
  assert.deepEqual(await ids({ search: 'old@dest.test' }), whole)
  for (const limit of [1, 2, 3]) {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await list({ search: 'OLD@', limit, cursor })
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    assert.deepEqual(seen, whole)
  }
  for (const [at, id] of whole.entries()) {
    assert.deepEqual(await ids({ search: 'old', cursor: id }), whole.slice(at + 1))
  }
})

test('a letter outside of the basic plane counts once in a search', async (t) => {
  const { core, ids, add } = await open(t)
  const [id] = await add({ to: '😀ada@dest.test' }, { to: '😀eve@dest.test' })
  const { contactId } = Object(
    await core.store.read
      .select()
      .from(emails)
      .where(eq(emails.id, String(id)))
      .get(),
  )
  assert.deepEqual(await ids({ contactId, search: '😀a' }), [id])
})

test('an address with many contacts is searched in the emails', async (t) => {
  const { ids, add } = await open(t)
  const people = Array.from({ length: 105 }, (_, index) => ({ to: `p${index}@dest.test` }))
  const all = await add(...people, { to: 'other@dest.test' })
  const found = await ids({ search: 'p', limit: 100 })
  assert.deepEqual(found, all.slice(5, 105).reverse())
  assert.deepEqual(await ids({ search: 'p104' }), [all[104]])
})

test('a search goes on as it began when contacts come or go between its pages', async (t) => {
  const { core, list, add } = await open(t)
  const campaignId = newId()
  const change = { campaignId }
  const before = await add({ to: 'old@dest.test', change }, { to: 'old2@dest.test', change })
  await core.store.write((tx) => tx.update(contacts).set({ address: sql`'new' || email` }))
  const later = await add({ to: 'old3@dest.test', change }, { to: 'old4@dest.test', change })
  const newest = [...before, ...later].reverse()
  const people = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ to: `old-${index}@dest.test` }))
  const rest = async (query: Partial<EmailQuery>) => {
    const { data, cursor } = await list({ ...query, limit: 200 })
    assert.equal(cursor, null)
    return data.map(({ id }) => id).filter((id) => newest.includes(id))
  }
  const queries = [{ search: 'old' }, { search: 'old', campaignId }]
  // After a page of the contacts, one that ends with them, and one of the other emails.
  const begun = []
  for (const query of queries) {
    for (const limit of [1, 2, 3]) {
      const { data, cursor } = await list({ ...query, limit })
      assert.deepEqual(
        data.map(({ id }) => id),
        newest.slice(0, limit),
      )
      begun.push({ query: { ...query, cursor: cursor ?? undefined }, limit })
    }
  }
  const many = await add(...people(100))
  for (const { query, limit } of begun) {
    assert.deepEqual(await rest(query), newest.slice(limit), JSON.stringify(query))
  }
  const byEmails = await list({ search: 'old', limit: 100 })
  assert.equal(byEmails.data[0]?.id, many.at(-1))
  await core.store.write((tx) => tx.delete(contacts).where(sql`email like 'old-%'`))
  const query = { search: 'old', cursor: byEmails.cursor ?? undefined }
  assert.deepEqual(await rest(query), newest)
})

test('pages have every email once, and a bare id is a cursor', async (t) => {
  const { core, list, ids, add } = await open(t)
  const campaignId = newId()
  const templateId = newId()
  const rows = Array.from({ length: 9 }, (_, index) => ({
    to: `p${index}@dest.test`,
    change: { campaignId, templateId, ...(index % 2 === 0 ? failed : bounced) },
  }))
  const all = await add(...rows)
  const queries: Partial<EmailQuery>[] = [
    {},
    { campaignId },
    { templateId },
    { statuses: ['FAILED', 'BOUNCED'] },
    { statuses: ['FAILED'] },
    { search: 'p' },
    { domain: 'dest.test', statuses: ['BOUNCED', 'PENDING'] },
  ]
  for (const query of queries) {
    const whole = await ids(query)
    assert.ok(whole.length >= 4)
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await list({ ...query, limit: 2, cursor })
      assert.equal(page.hasMore, page.cursor !== null)
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.cursor ?? undefined
    } while (cursor !== undefined)
    assert.deepEqual(seen, whole, JSON.stringify(query))
    assert.deepEqual(await ids({ ...query, cursor: whole[1] }), whole.slice(2))
  }
  for (const text of ['x', '1', newId(), 'contact_1', `contact_${all[0]}`, '1_2_3', 'others_1']) {
    for (const cursor of [text, sealCursor(core, 'emails', text)]) {
      await assert.rejects(list({ cursor }), { code: 'VALIDATION_ERROR' }, text)
    }
  }
  const ofOtherList = sealCursor(core, 'recipients', '1_2')
  await assert.rejects(list({ cursor: ofOtherList }), { code: 'VALIDATION_ERROR' })
})

test('each email of a list says why it has not arrived, in the words of the email itself', async (t) => {
  const { core, project, list, add } = await open(t)
  const error = '550 5.1.1 No such user'
  await add({ to: 'a@dest.test', change: { ...bounced, error } }, { to: 'b@dest.test' })
  await add({ to: 'c@dest.test', change: { ...failed, error: 'cancelled' } })
  const { data } = await list()
  for (const { id, reason, reasonCode, reasonData } of data) {
    const shown = await showEmail(core, { projectId: project.id, id })
    assert.deepEqual(
      { reason, reasonCode, reasonData },
      { reason: shown.reason, reasonCode: shown.reasonCode, reasonData: shown.reasonData },
    )
  }
  assert.deepEqual(
    data.map(({ reasonCode }) => reasonCode),
    ['cancelled', 'due', 'bounced'],
  )
  assert.match(String(data[0]?.reason), /^It was cancelled at /)
  assert.match(String(data[2]?.reason), /550 5.1.1 No such user/)
})

test('a page takes as many statements as a short one', async (t) => {
  const { core, project, add } = await open(t)
  for (let at = 0; at < 30; at += 1) {
    await add({ to: `p${at}@dest${at % 3}.test`, change: at % 2 === 0 ? { ...failed } : {} })
  }
  const countFor = async (limit: number) => {
    let statements = 0
    const counting = <Reader extends object>(reader: Reader): Reader =>
      new Proxy(reader, {
        get(target, name) {
          const value = Reflect.get(target, name)
          if (typeof value !== 'function') return value
          return (...given: unknown[]) => {
            statements += 1
            return value.apply(target, given)
          }
        },
      })
    const { read, scan } = core.store
    const store = { ...core.store, read: counting(read), scan: counting(scan) }
    const { data } = await listEmails({ ...core, store }, { projectId: project.id, limit })
    assert.equal(data.length, limit)
    return statements
  }
  assert.equal(await countFor(29), await countFor(4))
})

test('no filter reads the table, or sorts more than the emails of few contacts', async (t) => {
  const { core, project, add } = await open(t)
  await add({ to: 'ada@dest.test' }, { to: 'adam@dest.test' })
  const { id: projectId } = project
  const queries: [string, Partial<EmailQuery>, boolean][] = [
    ['emails_newest', {}, false],
    ['emails_newest', { statuses: ['PENDING', 'SENT'] }, false],
    ['emails_newest', { source: 'CAMPAIGN', domain: 'dest.test', startAt: 1, endAt: 2 }, false],
    ['emails_ends', { statuses: ['FAILED', 'BOUNCED'] }, false],
    ['emails_campaign', { campaignId: newId(), statuses: ['FAILED'] }, false],
    ['emails_template', { templateId: newId() }, false],
    ['emails_contact', { contactId: newId() }, false],
    ['emails_newest', { states: ['delivered'], isTest: true, receiver: 'Other' }, false],
    ['emails_newest', { receiver: 'Outlook', workflowId: newId() }, false],
    ['emails_ends', { states: ['failed', 'bounced'] }, false],
    ['emails_workflow', { executionId: newId() }, false],
    ['emails_contact', { search: 'adam' }, false],
    ['emails_contact', { search: 'ada' }, true],
  ]
  for (const [index, query, maySort] of queries) {
    const path = await chooseEmailPath(core, { projectId, ...query })
    for (const branch of path.branches) {
      const after = { at: 1, number: 1, contactId: newId() }
      for (const from of [undefined, after]) {
        const { sql: text } = compileSql(
          selectPathStretch(path, { branch, after: from, wanted: 20 }),
        )
        const rows = await core.store.read.all<{ detail: string }>(
          sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
        )
        const plan = rows.map(({ detail }) => detail).join('\n')
        assert.match(plan, new RegExp(`SEARCH emails USING INDEX ${index} `), plan)
        assert.equal(/TEMP B-TREE FOR ORDER BY/.test(plan), maySort, plan)
      }
    }
  }
})

test('waiting mail is found by the indexes of the queue, and read by its numbers', async (t) => {
  const { core, project, add } = await open(t)
  await add({ to: 'ada@dest.test' })
  const planOf = async (text: string) => {
    const explained = sql.raw(`explain query plan ${text.replaceAll(/[?:@$]\w*/g, 'null')}`)
    const rows = await core.store.read.all<{ detail: string }>(explained)
    return rows.map(({ detail }) => detail).filter((detail) => / emails | attempts /.test(detail))
  }
  assert.deepEqual(await planOf(listWaiting.compiled().text), [
    'SCAN emails USING COVERING INDEX emails_ready',
    'SEARCH emails USING INDEX emails_leased (lease_until>?)',
    'SEARCH emails USING INDEX emails_parked (project_id=? AND shelf=?)',
  ])
  const [ready] = await planOf(listWaitingInLanes.compiled().text)
  assert.match(
    String(ready),
    /^SEARCH emails USING COVERING INDEX emails_ready \(queue_class=\? AND recipient_domain=\? AND project_id=\?/,
  )
  // The limit counts emails of the wanted states alone.
  const [inLanes = ''] = listWaitingInLanes.compiled().text.split('leased as')
  assert.match(inLanes, /state in .* limit 1001/s)
  const query = { projectId: project.id, states: ['queued'], receiver: 'Other' } as const
  const path = await chooseEmailPath(core, query)
  const [branch] = path.branches
  assert.ok(branch)
  const { sql: read } = compileSql(
    selectPathStretch(path, { branch, after: undefined, wanted: 20 }),
  )
  assert.deepEqual(await planOf(read), [
    'SEARCH emails USING INTEGER PRIMARY KEY (rowid=?)',
    'SEARCH attempts USING INDEX attempts_email (email_id=?)',
    'SEARCH attempts USING INDEX attempts_email (email_id=?)',
  ])
})

test('waiting mail is found among much mail of others by the lanes of its project', async (t) => {
  const { core, project, add } = await open(t)
  const { id: projectId } = project
  await add({ to: 'ada@dest.test' }, { to: 'bob@other.test' })
  const { scan } = core.store
  const list: typeof scan.list = (statement, ...values) =>
    Object.is(statement, listWaiting)
      ? Promise.resolve([{ number: -1 }] as never)
      : scan.list(statement, ...values)
  const store = { ...core.store, scan: Object.assign(Object.create(scan), { list }) }
  const lane = (domain: string): QueueLane => {
    return { queueClass: TRANSACTIONAL_CLASS, domain, projectId }
  }
  const found = async (...domains: string[]) => {
    const lanes = { ofProject: () => domains.map(lane) }
    return (await findWaiting({ store, lanes }, { projectId, states: ['queued'] }))?.length
  }
  assert.deepEqual([await found('dest.test'), await found('dest.test', 'other.test')], [1, 2])
  assert.equal(await found(...Array.from({ length: 1_001 }, (_, at) => `d${at}.test`)), undefined)
})

test('mail of the statuses that wait is found as mail of the states is', async (t) => {
  const { core, project, ids, add } = await open(t)
  const [ada] = await add({ to: 'ada@dest.test' })
  assert.deepEqual(await ids({ statuses: ['PENDING'] }), [ada])
  assert.deepEqual(await ids({ statuses: ['SENDING', 'PENDING'] }), [ada])
  const textFor = async (...statuses: EmailStatus[]) => {
    const { branches } = await chooseEmailPath(core, { projectId: project.id, statuses })
    return branches.map((branch) => compileSql(branch).sql).join()
  }
  assert.doesNotMatch(await textFor('PENDING', 'SENDING'), /emails_newest/)
  assert.match(await textFor('PENDING', 'DELIVERED'), /emails_newest/)
})

test('the emails of a page are read by their ids, not among all of the project', async (t) => {
  const { core, project } = await open(t)
  const { sql: text } = compileSql(sql`select id from emails where ${isNamed(project.id, [])}`)
  const rows = await core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
  )
  assert.match(String(rows[0]?.detail), /^SEARCH emails USING INDEX \w+ \(id=\?\)/)
})

/** The reader with another way of reading rows. */
function withAll<Reader extends object>(reader: Reader, all: (query: string) => unknown): Reader {
  return Object.assign(Object.create(reader), { all })
}
