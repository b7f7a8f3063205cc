import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { endEmails } from '../../../../src/features/mail/messages/outcome/end-emails.ts'
import { retryFailed } from '../../../../src/features/outreach/campaigns/retry-failed.ts'
import { sendTest } from '../../../../src/features/outreach/campaigns/send-test.ts'
import { fire } from '../../../../src/features/outreach/campaigns/sending/active.ts'
import { sendCampaign } from '../../../../src/features/outreach/campaigns/sending/send.ts'
import { loadShownCampaign } from '../../../../src/features/outreach/campaigns/show.ts'
import {
  pauseCampaign,
  resumeCampaign,
} from '../../../../src/features/outreach/campaigns/stopping.ts'
import { inArray } from '../../../../src/store/drizzle.ts'
import { type Email, emails } from '../../../../src/store/schema/messages.ts'
import { address, type TestCore } from '../../../core.ts'
import {
  addCampaign,
  addContacts,
  deliverAll,
  emailsOf,
  eventNames,
  loadCampaignRow,
  loadProgress,
  people,
  runUntil,
} from '../../outreach/campaigns/sending/campaign.ts'
import {
  assertExact,
  findProject,
  follow,
  NOTHING,
  noticesOf,
  openLimited,
  setColumns,
  suppressAll,
  useOf,
  withStripe,
} from './usage.ts'

const MONTH_END = Date.UTC(2026, 11, 1)
const REFUSED = { code: 'BILLING_LIMIT_EXCEEDED', status: 402 }

const isPaused = (core: TestCore, id: string) => async () =>
  (await loadCampaignRow(core, id)).pausedAt !== null
/** Delivers what waits, once all emails are made, and wakes the loop, which looks each second by itself. */
const isSent = (core: TestCore, id: string) => async () => {
  const { status } = await loadCampaignRow(core, id)
  if (status === 'SENT') return true
  const waiting = (await emailsOf(core, id)).some(({ state }) => state === 'queued')
  if (waiting && (await loadProgress(core, id)).expandedAt !== null) {
    await deliverAll(core)
    core.campaignNotifier.notify()
  }
  return false
}
const recipientsOf = async (core: TestCore, id: string) =>
  (await emailsOf(core, id)).map(({ recipient }) => recipient)

const addressesOf = (rows: ReturnType<typeof people>) => rows.map(({ address: to }) => to)

async function failAll(core: TestCore, rows: readonly Email[]): Promise<void> {
  const end = { state: 'failed', error: 'the server was down', reason: 'error' } as const
  await core.store.write((tx) =>
    endEmails(core, tx, { endings: rows.map((email) => ({ email, end })), at: core.now() }),
  )
}

describe('a campaign', () => {
  it('sends exactly up to the limit, pauses, and goes on when the limit is raised', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 7 })
    await addContacts(core, project.id, people(20))
    const id = await addCampaign(core, project.id)
    const key = { projectId: project.id, id }
    await sendCampaign(core, key)
    await runUntil(core, isPaused(core, id))
    const { status, pauseReason, pauseDetails } = await loadShownCampaign(core, key)
    assert.deepEqual([status, pauseReason, pauseDetails], ['SENDING', 'billing_limit', null])
    assert.equal((await emailsOf(core, id)).length, 7)
    assert.deepEqual(await useOf(core, project.id), { ...NOTHING, campaigns: 7 })
    assert.deepEqual(await eventNames(core, 'campaign.paused'), ['campaign.paused'])
    await assert.rejects(resumeCampaign(core, key), {
      ...REFUSED,
      message: 'This project is limited to 7 emails of campaigns a month, and has used 7.',
    })
    assert.equal((await loadCampaignRow(core, id)).pauseReason, 'billing_limit')
    await setColumns(core, project.id, { limitCampaigns: 12 })
    await resumeCampaign(core, key)
    await runUntil(core, isPaused(core, id))
    assert.equal((await emailsOf(core, id)).length, 12)
    await setColumns(core, project.id, { limitCampaigns: null })
    await resumeCampaign(core, key)
    await runUntil(core, isSent(core, id))
    const recipients = await recipientsOf(core, id)
    assert.deepEqual(
      recipients.sort(),
      people(20)
        .map(({ address: to }) => to)
        .sort(),
    )
    assert.equal((await useOf(core, project.id)).campaigns, 20)
  })

  it('goes on in the next month without a double or a gap', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 5 })
    await addContacts(core, project.id, people(9))
    const id = await addCampaign(core, project.id)
    const key = { projectId: project.id, id }
    core.clock.now = MONTH_END - 1_000
    await sendCampaign(core, key)
    await runUntil(core, isPaused(core, id))
    core.clock.now = MONTH_END
    await resumeCampaign(core, key)
    await runUntil(core, isSent(core, id))
    const rows = await emailsOf(core, id)
    assert.equal(new Set(rows.map(({ recipient }) => recipient)).size, 9)
    assert.equal((await useOf(core, project.id, MONTH_END - 1)).campaigns, 5)
    assert.equal((await useOf(core, project.id)).campaigns, 4)
  })

  it('that needs exactly what is left is sent, and is not paused', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 6 })
    await addContacts(core, project.id, [
      ...people(6),
      { address: 'no@people.test', subscribed: false },
      { address: 'never@people.test', subscribed: false },
    ])
    const id = await addCampaign(core, project.id)
    await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, isSent(core, id))
    assert.equal((await emailsOf(core, id)).length, 6)
    assert.deepEqual(await eventNames(core, 'campaign.paused'), [])
  })

  it('makes up for suppressed addresses before it pauses', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 5 })
    await addContacts(core, project.id, people(12))
    await suppressAll(core, project.id, addressesOf(people(3)))
    const id = await addCampaign(core, project.id)
    await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, isPaused(core, id))
    const states = (await emailsOf(core, id)).map(({ state }) => state)
    assert.equal(states.filter((state) => state === 'suppressed').length, 3)
    assert.equal(states.filter((state) => state === 'queued').length, 5)
    await assertExact(core, project.id, { campaigns: 5 })
  })

  it('does not count suppressed addresses, whether their contacts are subscribed or not', async (t) => {
    const { core, project, send } = await openLimited(
      t,
      { limitCampaigns: 50 },
      { configure: withStripe(60) },
    )
    const unsubscribed = people(60).map((person) => ({ ...person, subscribed: false }))
    const subscribed = people(70).slice(60)
    const all = [...unsubscribed, ...subscribed, { address: 'reached@people.test' }]
    await addContacts(core, project.id, all)
    await suppressAll(core, project.id, addressesOf([...unsubscribed, ...subscribed]))
    const id = await addCampaign(core, project.id)
    await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, isSent(core, id))
    assert.equal((await emailsOf(core, id)).length, 71)
    await assertExact(core, project.id, { campaigns: 1 })
    assert.deepEqual(await noticesOf(core), [])
    await send(46)
    assert.deepEqual(await noticesOf(core), [])
    await send(1)
    assert.deepEqual(await noticesOf(core), [
      { category: 'shared', percent: 80, limit: 60, used: 48 },
    ])
    await send(12)
    await assert.rejects(send(1), REFUSED)
    await assertExact(core, project.id, { campaigns: 1, transactional: 59 })
  })

  it('gives back an address that is suppressed after its email was made, and only that', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 5 })
    await addContacts(core, project.id, people(4))
    await suppressAll(core, project.id, addressesOf(people(1)))
    const id = await addCampaign(core, project.id)
    await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, async () => (await loadProgress(core, id)).expandedAt !== null)
    const [email] = (await emailsOf(core, id)).filter(({ state }) => state === 'queued')
    assert.ok(email)
    // In the millisecond in which it was made.
    const end = { state: 'suppressed' } as const
    await core.store.write((tx) =>
      endEmails(core, tx, { endings: [{ email, end }], at: email.createdAt }),
    )
    assert.equal((await useOf(core, project.id)).campaigns, 3)
    await assertExact(core, project.id, { campaigns: 2 })
  })

  it('of the type TRANSACTIONAL counts as transactional mail', async (t) => {
    const columns = { limitTransactional: 3, limitCampaigns: 1 }
    const { core, project, send } = await openLimited(t, columns)
    await addContacts(core, project.id, people(5))
    const id = await addCampaign(core, project.id, { type: 'TRANSACTIONAL' })
    await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, isPaused(core, id))
    assert.equal((await emailsOf(core, id)).length, 3)
    assert.deepEqual(await useOf(core, project.id), { ...NOTHING, transactional: 3 })
    await assert.rejects(send(1), REFUSED)
  })

  it('is not begun while the limit is reached, but can be scheduled', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 2 })
    await addContacts(core, project.id, people(2))
    const first = await addCampaign(core, project.id)
    await sendCampaign(core, { projectId: project.id, id: first })
    await runUntil(core, isSent(core, first))
    const id = await addCampaign(core, project.id)
    const key = { projectId: project.id, id }
    await assert.rejects(sendCampaign(core, key), REFUSED)
    assert.equal((await loadCampaignRow(core, id)).status, 'DRAFT')
    const scheduledFor = new Date(core.now() + 60_000).toISOString()
    await sendCampaign(core, key, { scheduledFor })
    core.clock.now += 60_000
    await fire(core, key)
    await runUntil(core, isPaused(core, id))
    assert.equal((await loadCampaignRow(core, id)).pauseReason, 'billing_limit')
    assert.deepEqual(await emailsOf(core, id), [])
  })

  it('whose emails are all made can be resumed at the limit', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 2 })
    await addContacts(core, project.id, people(2))
    const id = await addCampaign(core, project.id)
    const key = { projectId: project.id, id }
    await sendCampaign(core, key)
    await runUntil(core, async () => (await loadProgress(core, id)).expandedAt !== null)
    await pauseCampaign(core, key, { reason: 'manual' })
    await resumeCampaign(core, key)
    await runUntil(core, isSent(core, id))
  })

  it('shares a limit with others: together they make no more', async (t) => {
    const { core, project } = await openLimited(t, { limitCampaigns: 11 })
    await addContacts(core, project.id, people(8))
    const ids = [await addCampaign(core, project.id), await addCampaign(core, project.id)]
    for (const id of ids) await sendCampaign(core, { projectId: project.id, id })
    await runUntil(core, async () => {
      const rows = await Promise.all(ids.map((id) => loadProgress(core, id)))
      const campaigns = await Promise.all(ids.map((id) => loadCampaignRow(core, id)))
      return rows.every((row, index) => row.expandedAt ?? campaigns[index]?.pausedAt)
    })
    assert.equal(await core.store.read.$count(emails), 11)
    assert.equal((await useOf(core, project.id)).campaigns, 11)
    const marks = (await noticesOf(core)).map(({ percent }) => percent)
    assert.equal(new Set(marks).size, marks.length)
    assert.ok(marks.includes(100))
  })

  it('has tests, which count as transactional mail and are refused', async (t) => {
    const { core, project } = await openLimited(t, { limitTransactional: 1 })
    const campaignId = await addCampaign(core, project.id)
    const found = await findProject(core, project.id)
    const addresses = [address('a@people.test'), address('b@people.test')]
    await assert.rejects(sendTest(core, found, { campaignId, addresses }), REFUSED)
    assert.equal(await core.store.read.$count(emails), 0)
    await sendTest(core, found, { campaignId, addresses: addresses.slice(1) })
    assert.deepEqual(await useOf(core, project.id), { ...NOTHING, transactional: 1 })
  })
})

describe('retrying the failed emails of a campaign', () => {
  async function openFailed(t: Parameters<typeof openLimited>[0], count: number) {
    const opened = await openLimited(t, { limitCampaigns: count })
    const { core, project } = opened
    await addContacts(core, project.id, people(count))
    const id = await addCampaign(core, project.id)
    const key = { projectId: project.id, id }
    await sendCampaign(core, key)
    await runUntil(core, async () => (await emailsOf(core, id)).length === count)
    await failAll(core, await emailsOf(core, id))
    await follow(core)
    assert.equal((await useOf(core, project.id)).campaigns, 0)
    return { ...opened, key }
  }

  it('counts them again', async (t) => {
    const { core, project, key } = await openFailed(t, 4)
    assert.equal(await retryFailed(core, key), 4)
    assert.equal((await useOf(core, project.id)).campaigns, 4)
    await failAll(core, await emailsOf(core, key.id))
    await follow(core)
    assert.equal((await useOf(core, project.id)).campaigns, 0)
    await follow(core)
    assert.equal((await useOf(core, project.id)).campaigns, 0)
  })

  it('leaves those failed that are over the limit', async (t) => {
    const { core, project, key } = await openFailed(t, 4)
    await setColumns(core, project.id, { limitCampaigns: 3 })
    assert.equal(await retryFailed(core, key), 3)
    await assert.rejects(retryFailed(core, key), REFUSED)
    const states = (await emailsOf(core, key.id)).map(({ state }) => state).sort()
    assert.deepEqual(states, ['failed', 'queued', 'queued', 'queued'])
    assert.equal((await useOf(core, project.id)).campaigns, 3)
  })

  it('counts them in the month in which they were accepted', async (t) => {
    const { core, project, key } = await openFailed(t, 3)
    core.clock.now = MONTH_END
    await setColumns(core, project.id, { limitCampaigns: 1 })
    assert.equal(await retryFailed(core, key), 1)
    assert.deepEqual(await useOf(core, project.id), NOTHING)
    assert.equal((await useOf(core, project.id, MONTH_END - 1)).campaigns, 1)
    const left = (await emailsOf(core, key.id)).filter(({ state }) => state === 'failed')
    const ids = left.map(({ id }) => id)
    await core.store.write((tx) =>
      tx.update(emails).set({ createdAt: MONTH_END }).where(inArray(emails.id, ids)),
    )
    assert.equal(await retryFailed(core, key), 1)
  })
})
