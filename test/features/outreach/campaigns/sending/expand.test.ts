import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startCampaigns } from '../../../../../src/features/outreach/campaigns/sending/loop.ts'
import { sendCampaign } from '../../../../../src/features/outreach/campaigns/sending/send.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { campaignProgress, campaigns } from '../../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { holds } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import type { TestCore } from '../../../../core.ts'
import {
  addCampaign,
  addContacts,
  deliverAll,
  emailsOf,
  eventNames,
  loadCampaignRow,
  openSendingCore,
  people,
  runUntil,
} from './campaign.ts'

const loadProgress = async (core: TestCore, id: string) => {
  const { campaignId } = campaignProgress
  const row = await core.store.read.select().from(campaignProgress).where(eq(campaignId, id)).get()
  if (row === undefined) throw new TypeError('the campaign does not send')
  return row
}

const isExpanded = async (core: TestCore, id: string) =>
  (await loadProgress(core, id)).expandedAt !== null

test('each contact gets one email, and the campaign is SENT when none of them waits', async (t) => {
  const { core, project } = await openSendingCore(t)
  const ids = await addContacts(core, project.id, people(2_500))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  await addContacts(core, project.id, [{ address: 'late@x.test' }])
  await runUntil(core, () => isExpanded(core, id))
  assert.equal((await loadCampaignRow(core, id)).status, 'SENDING')
  const rows = await emailsOf(core, id)
  assert.deepEqual(rows.map(({ contactId }) => contactId).sort(), [...ids].sort())
  const [first] = rows
  assert.ok(first !== undefined)
  assert.equal(first.messageId, `${first.id}@shop.test`)
  assert.deepEqual(
    [first.sourceType, first.queueClass, first.state, first.dueAt, first.fromName],
    ['CAMPAIGN', 10, 'queued', core.now(), 'Shop'],
  )
  assert.equal(new Set(rows.map(({ contentId }) => contentId)).size, 1)
  await deliverAll(core)
  await runUntil(core, async () => (await loadCampaignRow(core, id)).status === 'SENT')
  const sent = await loadCampaignRow(core, id)
  assert.deepEqual([sent.totalRecipients, sent.sentAt], [2_500, core.now()])
  assert.deepEqual(await eventNames(core, 'campaign.'), ['campaign.sent'])
})

test('an expansion that was interrupted goes on where it stopped', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(2_100))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  for (const rows of [1, 700, 1_500]) {
    await runUntil(core, async () => (await loadProgress(core, id)).rowsMade >= rows)
  }
  await runUntil(core, () => isExpanded(core, id))
  const rows = await emailsOf(core, id)
  assert.equal(rows.length, 2_100)
  assert.equal(new Set(rows.map(({ contactId }) => contactId)).size, 2_100)
  assert.equal((await loadProgress(core, id)).rowsMade, 2_100)
})

test('unsubscribed contacts get no row, suppressed ones a SUPPRESSED one, held ones wait', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [
    { address: 'yes@x.test' },
    { address: 'no@x.test', subscribed: false },
    { address: 'gone@x.test' },
    { address: 'left@x.test', subscribed: false },
    { address: 'wait@held.test' },
    { address: 'übung@bücher.example' },
  ])
  await core.store.write(async (tx) => {
    const row = { projectId: project.id, reason: 'MANUAL', source: 'api', createdAt: 1 } as const
    for (const address of ['gone@x.test', 'left@x.test']) {
      await tx.insert(suppressions).values({ id: newId(), address, ...row })
    }
    await tx.insert(holds).values({ domain: 'held.test', heldAt: 1 })
  })
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  await runUntil(core, () => isExpanded(core, id))
  const rows = await emailsOf(core, id)
  assert.deepEqual(
    rows.map((row) => [row.recipient, row.recipientDomain, row.state, row.status, row.dueAt]),
    [
      ['yes@x.test', 'x.test', 'queued', 'PENDING', core.now()],
      ['gone@x.test', 'x.test', 'suppressed', 'SUPPRESSED', null],
      ['wait@held.test', 'held.test', 'held', 'PENDING', null],
      ['übung@bücher.example', 'xn--bcher-kva.example', 'queued', 'PENDING', core.now()],
      ['left@x.test', 'x.test', 'suppressed', 'SUPPRESSED', null],
    ],
  )
  const { rowsMade, skippedUnsubscribed } = await loadProgress(core, id)
  assert.deepEqual({ rowsMade, skippedUnsubscribed }, { rowsMade: 5, skippedUnsubscribed: 1 })
  assert.deepEqual(await eventNames(core, 'email.'), ['email.suppressed', 'email.suppressed'])
})

test('a TRANSACTIONAL campaign goes to unsubscribed contacts too', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, [{ address: 'no@x.test', subscribed: false }])
  const id = await addCampaign(core, project.id, { type: 'TRANSACTIONAL' })
  await sendCampaign(core, { projectId: project.id, id })
  await runUntil(core, () => isExpanded(core, id))
  const [row] = await emailsOf(core, id)
  assert.deepEqual(
    [row?.sourceType, row?.queueClass, row?.contentClass],
    ['TRANSACTIONAL', 10, 'TRANSACTIONAL'],
  )
})

test('the email of an unsubscribed contact keeps its data, also if it is suppressed', async (t) => {
  const { core, project } = await openSendingCore(t)
  const data = { name: 'Ada' }
  const asked = { address: 'yes@x.test' }
  await addContacts(core, project.id, [{ address: 'no@x.test', subscribed: false, data }, asked])
  const row = { projectId: project.id, reason: 'MANUAL', source: 'api', createdAt: 1 } as const
  const suppress = () =>
    core.store.write((tx) =>
      tx.insert(suppressions).values({ id: newId(), address: 'no@x.test', ...row }),
    )
  for (const type of ['TRANSACTIONAL', 'MARKETING'] as const) {
    if (type === 'MARKETING') await suppress()
    const id = await addCampaign(core, project.id, { type })
    await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, () => isExpanded(core, id))
    const email = (await emailsOf(core, id)).find(({ recipient }) => recipient === 'no@x.test')
    const status = type === 'MARKETING' ? 'SUPPRESSED' : 'PENDING'
    assert.deepEqual([email?.status, email?.variables], [status, { stored: data, request: {} }])
  }
})

test('an email keeps the data that its template names, and the locale', async (t) => {
  const { core, project } = await openSendingCore(t)
  const data = { name: 'Ada', locale: 'de', secret: 'x'.repeat(60_000) }
  await addContacts(core, project.id, [{ address: 'a@x.test', data }, { address: 'b@x.test' }])
  const named = await addCampaign(core, project.id)
  const computed = await addCampaign(core, project.id, { body: '<p>{{ data[name] }}</p>' })
  for (const id of [named, computed]) {
    await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, () => isExpanded(core, id))
  }
  const stored = async (id: string) =>
    (await emailsOf(core, id)).map(({ variables }) => variables?.stored)
  assert.deepEqual(await stored(named), [{ name: 'Ada', locale: 'de' }, {}])
  assert.deepEqual(await stored(computed), [data, {}])
})

test('two campaigns advance in turn', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(4_000))
  const ids = [await addCampaign(core, project.id), await addCampaign(core, project.id)] as const
  for (const id of ids) await sendCampaign(core, { projectId: project.id, id })
  const made = () => Promise.all(ids.map(async (id) => (await loadProgress(core, id)).rowsMade))
  await runUntil(core, async () => Math.max(...(await made())) >= 2_000)
  assert.ok(Math.min(...(await made())) > 500)
  await runUntil(core, async () =>
    (await Promise.all(ids.map((id) => isExpanded(core, id)))).every(Boolean),
  )
  assert.deepEqual(await made(), [4_000, 4_000])
})

test('a campaign whose time came while the server was down fires once', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(3))
  const id = await addCampaign(core, project.id, {
    status: 'SCHEDULED',
    scheduledFor: core.now() - 86_400_000,
  })
  const loops = [startCampaigns(core), startCampaigns(core)]
  await runUntil(core, async () => (await emailsOf(core, id)).length > 0)
  for (const loop of loops) await loop.stop()
  assert.equal((await emailsOf(core, id)).length, 3)
  assert.equal((await loadProgress(core, id)).rowsMade, 3)
})

test('a campaign that fires for nobody is SENT with 0', async (t) => {
  const { core, project } = await openSendingCore(t)
  const id = await addCampaign(core, project.id, { status: 'SCHEDULED', scheduledFor: core.now() })
  await runUntil(core, async () => (await loadCampaignRow(core, id)).status === 'SENT')
  assert.equal((await loadCampaignRow(core, id)).totalRecipients, 0)
})

for (const [reason, fields] of [
  ['domain_unverified', { fromDomain: 'other.test', fromAddress: 'a@other.test' }],
  ['segment_missing', { audienceType: 'SEGMENT', segmentId: newId() }],
  ['condition_invalid', { audienceType: 'FILTERED', audienceCondition: null }],
] as const) {
  test(`a campaign that cannot fire is paused: ${reason}`, async (t) => {
    const { core, project } = await openSendingCore(t)
    await addContacts(core, project.id, people(3))
    const scheduled = { status: 'SCHEDULED', scheduledFor: core.now() } as const
    const id = await addCampaign(core, project.id, { ...scheduled, ...fields })
    const well = await addCampaign(core, project.id, scheduled)
    await runUntil(
      core,
      async () =>
        (await loadCampaignRow(core, id)).pausedAt !== null &&
        (await emailsOf(core, well)).length === 3,
    )
    const { status, pauseReason } = await loadCampaignRow(core, id)
    assert.deepEqual([status, pauseReason], ['SENDING', reason])
    assert.deepEqual(await emailsOf(core, id), [])
    assert.deepEqual(await eventNames(core, 'campaign.'), ['campaign.paused'])
  })
}

test('a paused campaign makes no emails until it is resumed', async (t) => {
  const { core, project } = await openSendingCore(t)
  await addContacts(core, project.id, people(5))
  const id = await addCampaign(core, project.id)
  const other = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  await sendCampaign(core, { projectId: project.id, id: other })
  const setPaused = (pausedAt: number | null) =>
    core.store.write((tx) => tx.update(campaigns).set({ pausedAt }).where(eq(campaigns.id, id)))
  await setPaused(1)
  await runUntil(core, () => isExpanded(core, other))
  assert.deepEqual(await emailsOf(core, id), [])
  await setPaused(null)
  await runUntil(core, () => isExpanded(core, id))
  assert.equal((await emailsOf(core, id)).length, 5)
})

test('a contact that is deleted before its row is made gets none', async (t) => {
  const { core, project } = await openSendingCore(t)
  const [first] = await addContacts(core, project.id, people(3))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  await core.store.write((tx) => tx.delete(contacts).where(eq(contacts.id, first ?? '')))
  await runUntil(core, () => isExpanded(core, id))
  assert.equal((await emailsOf(core, id)).length, 2)
})
