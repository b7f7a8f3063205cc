import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Core } from '../../../../../src/core/core.ts'
import { deleteCampaign } from '../../../../../src/features/outreach/campaigns/create-or-delete.ts'
import {
  countSlots,
  createQueueRoom,
  slotsOf,
} from '../../../../../src/features/outreach/campaigns/sending/pace.ts'
import { sendCampaign } from '../../../../../src/features/outreach/campaigns/sending/send.ts'
import {
  cancelCampaign,
  pauseCampaign,
} from '../../../../../src/features/outreach/campaigns/stopping.ts'
import { updateCampaign } from '../../../../../src/features/outreach/campaigns/update.ts'
import { and, eq, isNull } from '../../../../../src/store/drizzle.ts'
import { campaignProgress, campaigns } from '../../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { emails, holds } from '../../../../../src/store/schema/messages.ts'
import type { Store } from '../../../../../src/store/store.ts'
import type { TestCore } from '../../../../core.ts'
import {
  addCampaign,
  addContacts,
  deliverAll,
  emailsOf,
  loadCampaignRow,
  openSendingCore,
  people,
  runUntil,
} from './campaign.ts'

const HOUR = 3_600_000

async function isExpanded(core: TestCore, id: string): Promise<boolean> {
  const row = core.store.read.select().from(campaignProgress)
  return (await row.where(eq(campaignProgress.campaignId, id)).get())?.expandedAt != null
}

test('on a full disk no emails are made, and afterwards it goes on', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(20))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  let looks = 0
  const disk = { ...core.disk, isLow: () => ++looks < 3 }
  const made: number[] = []
  await runUntil({ ...core, disk }, async () => {
    made.push((await emailsOf(core, id)).length)
    return isExpanded(core, id)
  })
  assert.ok(looks >= 3)
  assert.equal((await emailsOf(core, id)).length, 20)
})

test('failing writes cost no email and make none twice', async (t) => {
  const { core, project } = await openSendingCore(t)
  const ids = await addContacts(core, project.id, people(1_200))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  let writes = 0
  const store: Store = {
    ...core.store,
    write: async (fn, options) => {
      writes += 1
      if (writes % 3 === 0) throw new Error('database or disk is full')
      const value = await core.store.write(fn, options)
      if (writes % 3 === 1) throw new Error('the process died right after the commit')
      return value
    },
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const ticking = setInterval(() => t.mock.timers.tick(1_000), 1)
  t.after(() => clearInterval(ticking))
  await runUntil({ ...core, store }, () => isExpanded(core, id))
  const rows = await emailsOf(core, id)
  assert.deepEqual(rows.map(({ contactId }) => contactId).sort(), ids.toSorted())
  const [progress] = await core.store.read.select().from(campaignProgress)
  assert.equal(progress?.rowsMade, 1_200)
})

test('fifty campaigns at once advance in turn, and each reaches everybody', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(30))
  const ids: string[] = []
  for (let index = 0; index < 50; index += 1) {
    const id = await addCampaign(core, project.id, { name: `C${index}` })
    await sendCampaign(core, { projectId: project.id, id })
    ids.push(id)
  }
  await runUntil(core, async () => {
    const rows = await core.store.read.select().from(campaignProgress)
    return rows.every(({ expandedAt }) => expandedAt !== null)
  })
  const counts = await Promise.all(ids.map(async (id) => (await emailsOf(core, id)).length))
  assert.deepEqual(new Set(counts), new Set([30]))
  await deliverAll(core)
  await runUntil(core, async () => {
    const rows = await core.store.read.select({ status: campaigns.status }).from(campaigns)
    return rows.every(({ status }) => status === 'SENT')
  })
})

test('any contact gets its email: IDN domains, 64 KB of data, none at all', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [
    { address: 'ada@bücher.example', data: { name: 'Ada' } },
    { address: 'жанна@пример.рф' },
    { address: 'big@dest.test', data: { name: 'Big', text: 'x'.repeat(64_000) } },
    { address: 'none@dest.test', data: null },
  ])
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  await runUntil(core, () => isExpanded(core, id))
  const rows = await emailsOf(core, id)
  assert.deepEqual(rows.map(({ recipientDomain }) => recipientDomain).sort(), [
    'dest.test',
    'dest.test',
    'xn--bcher-kva.example',
    'xn--e1afmkfd.xn--p1ai',
  ])
  // The template names `name` alone.
  const big = rows.find(({ recipient }) => recipient === 'big@dest.test')
  assert.deepEqual(big?.variables?.stored, { name: 'Big' })
})

test('a contact that is deleted between its row and its delivery loses the row', async (t) => {
  const { core, project } = await openSendingCore(t)
  const [first] = await addContacts(core, project.id, people(3))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  await runUntil(core, () => isExpanded(core, id))
  await core.store.write((tx) => tx.delete(contacts).where(eq(contacts.id, String(first))))
  assert.equal((await emailsOf(core, id)).length, 2)
  await deliverAll(core)
  await runUntil(core, async () => (await loadCampaignRow(core, id)).status === 'SENT')
  const [progress] = await core.store.read.select().from(campaignProgress)
  assert.equal(progress?.skippedDeleted, 1)
})

test('F6: whatever races with a send, one of them wins', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(3))
  type Key = { projectId: string; id: string }
  const rivals: ((key: Key) => Promise<unknown>)[] = [
    (key) => updateCampaign(core, { ...key, changes: { subject: 'New' } }),
    (key) => deleteCampaign(core, key),
    (key) => pauseCampaign(core, key, { reason: 'manual' }),
    (key) => cancelCampaign(core, key),
    (key) => sendCampaign(core, key),
  ]
  for (const rival of rivals) {
    for (const isFirst of [true, false]) {
      const key = { projectId: project.id, id: await addCampaign(core, project.id) }
      const send = () => sendCampaign(core, key)
      const both = isFirst ? [rival(key), send()] : [send(), rival(key)]
      const results = await Promise.allSettled(both)
      assert.ok(results.some(({ status }) => status === 'fulfilled'))
      for (const result of results) {
        if (result.status === 'rejected') assert.match(String(result.reason.code), /^[A-Z_]+$/)
      }
    }
  }
  // Those that are sending reach everybody once.
  const sending = await core.store.read
    .select()
    .from(campaigns)
    .where(and(eq(campaigns.status, 'SENDING'), isNull(campaigns.pausedAt)))
  await runUntil(core, async () => {
    const expanded = await Promise.all(sending.map(({ id }) => isExpanded(core, id)))
    return expanded.every(Boolean)
  })
  for (const { id } of sending) assert.equal((await emailsOf(core, id)).length, 3)
})

test('rows ahead: emails of a site that takes none do not count, up to ten times the bound', async (t) => {
  const { core, project } = await openSendingCore(t, { PILLARBOX_CAMPAIGNS__ROWS_AHEAD: '100' })
  const full = new Set<string>()
  const outbound = {
    siteOf: (domain: string) => domain,
    pauseOf: () => null,
    restrictionOf: (site: string) => (full.has(site) ? { triedAt: 0, reason: 'busy' } : null),
    capacity: () => 1,
  } as unknown as Core['outbound']
  let ms = 0
  const room = createQueueRoom({ ...core, outbound }, () => ms)
  assert.equal(await room.free(project.id), 100)
  room.took(project.id, 60)
  assert.equal(await room.free(project.id), 40)
  assert.equal(room.due(project.id), 60)
  await addContacts(core, project.id, people(140))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  const unbounded = {
    ...core,
    config: { ...core.config, campaigns: { ...core.config.campaigns, rowsAhead: 0 } },
  }
  await runUntil(unbounded, () => isExpanded(core, id))
  ms += 1_000
  assert.equal(await room.free(project.id), 0)
  // 20 emails for each of the seven domains.
  for (const number of [0, 1, 2]) full.add(`mail${number}.test`)
  ms += 1_000
  assert.equal(await room.free(project.id), 20)
  for (const number of [3, 4, 5, 6]) full.add(`mail${number}.test`)
  ms += 1_000
  assert.equal(await room.free(project.id), 100)
  room.took(project.id, 0)
  await core.store.write((tx) => tx.delete(emails))
  ms += 1_000
  assert.equal(await room.free(project.id), 100)
})

test('rows ahead: emails of held domains are made up to ten times the bound', async (t) => {
  const { core, project } = await openSendingCore(t, { PILLARBOX_CAMPAIGNS__ROWS_AHEAD: '10' })
  await core.store.write((tx) => tx.insert(holds).values({ domain: 'held.test', heldAt: 1 }))
  const held = Array.from({ length: 150 }, (_, index) => ({ address: `p${index}@held.test` }))
  await addContacts(core, project.id, held)
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  let ms = 0
  const room = createQueueRoom(core, () => ms)
  assert.equal(await room.free(project.id), 10)
  for (const made of [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]) {
    await runUntil(core, async () => (await emailsOf(core, id)).length >= made)
  }
  assert.equal((await emailsOf(core, id)).length, 100)
  ms += 1_000
  assert.equal(await room.free(project.id), 0)
})

test('maxPerHour gives slots a minute ahead, evenly, and makes up for nothing', () => {
  const now = 10 * HOUR
  const paced = { maxPerHour: 3_600, pacedAt: 0 }
  assert.deepEqual(countSlots(paced, now), { slots: 61, waitMs: 0 })
  const { dueAt, pacedAt } = slotsOf(paced, { count: 61, now })
  assert.deepEqual([dueAt(0), dueAt(1), dueAt(60)], [now, now + 1_000, now + 60_000])
  const next = { maxPerHour: 3_600, pacedAt }
  assert.deepEqual(countSlots(next, now), { slots: 0, waitMs: 1_000 })
  assert.deepEqual(countSlots(next, now + 30_000), { slots: 30, waitMs: 0 })
  assert.deepEqual(countSlots(next, now + 2 * HOUR), { slots: 61, waitMs: 0 })
  assert.deepEqual(countSlots({ maxPerHour: 1, pacedAt: now + HOUR }, now).slots, 0)
  assert.deepEqual(countSlots({ maxPerHour: null, pacedAt: 0 }, now), {
    slots: Number.POSITIVE_INFINITY,
    waitMs: 0,
  })
  // A clock that was a day ahead.
  const ahead = countSlots({ maxPerHour: 3_600, pacedAt: now + 24 * HOUR }, now)
  assert.ok(ahead.waitMs <= HOUR)
})

test('a higher maxPerHour takes effect within a minute', () => {
  const now = 10 * HOUR
  const { pacedAt } = slotsOf({ maxPerHour: 1, pacedAt: 0 }, { count: 1, now })
  assert.equal(pacedAt, now + HOUR)
  const raised = { maxPerHour: 3_600, pacedAt }
  assert.deepEqual(countSlots(raised, now), { slots: 1, waitMs: 0 })
  const first = slotsOf(raised, { count: 1, now })
  assert.equal(first.dueAt(0), now + 60_000)
  // From then on slots follow at the new pace, and none is given twice.
  const next = { maxPerHour: 3_600, pacedAt: first.pacedAt }
  assert.deepEqual(countSlots(next, now), { slots: 0, waitMs: 1_000 })
  assert.deepEqual(countSlots(next, now + 30_000), { slots: 30, waitMs: 0 })
  // The slots of the old pace are as far away as they may be.
  const unchanged = { maxPerHour: 1, pacedAt: now + HOUR + 60_000 }
  assert.equal(countSlots(unchanged, now).slots, 0)
})
