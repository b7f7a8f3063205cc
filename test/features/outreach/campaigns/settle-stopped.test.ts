import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { recoverLeases } from '../../../../src/features/mail/messages/queue/leases.ts'
import { retryFailed } from '../../../../src/features/outreach/campaigns/retry-failed.ts'
import { settleStopped } from '../../../../src/features/outreach/campaigns/settle-stopped.ts'
import {
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
} from '../../../../src/features/outreach/campaigns/stopping.ts'
import { updateProject } from '../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { campaignProgress, campaigns } from '../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { events } from '../../../../src/store/schema/events.ts'
import type { Email } from '../../../../src/store/schema/messages.ts'
import { address, START } from '../../../core.ts'
import { openSender, type Sender } from '../../mail/messages/sender.ts'
import { addCampaign, giveToCampaign, type NewCampaign } from './add-campaign.ts'

const PAUSE_MS = 60 * 60_000

type Running = Sender & { key: { projectId: string; id: string } }

async function openRunning(t: TestContext, changes: Partial<NewCampaign> = {}): Promise<Running> {
  const sender = await openSender(t)
  const projectId = sender.project.id
  const id = await addCampaign(sender.core, { projectId, ...changes })
  return { ...sender, key: { projectId, id } }
}

let people = 0

async function addEmail(running: Running, changes: Partial<Email> = {}): Promise<string> {
  people += 1
  const to = [{ address: address(`person${people}@dest.test`), name: null }]
  const { emails: accepted } = await running.send({ to })
  const id = accepted[0]?.email as string
  await running.core.store.write(
    async (tx) => void (await tx.update(contacts).set({ subscribed: true })),
  )
  await giveToCampaign(running.core, id, { campaignId: running.key.id, ...changes })
  return id
}

const campaignOf = ({ core, key }: Running) =>
  core.store.read.select().from(campaigns).where(eq(campaigns.id, key.id)).get()

const eventsOf = async ({ core }: Running) => {
  const rows = await core.store.read.select().from(events).orderBy(events.seq).all()
  return rows.filter(({ name }) => name.startsWith('campaign.'))
}

const setDomain = ({ core }: Running, isVerified: boolean) =>
  core.store.write(async (tx) => void (await tx.update(domains).set({ isVerified })))

test('a pause puts aside what waits, and a resume makes it due as it was', async (t) => {
  const running = await openRunning(t)
  const { core, clock, key } = running
  const due = await addEmail(running)
  const deferred = await addEmail(running, {
    state: 'deferred',
    attemptCount: 2,
    dueAt: START + 1_000,
  })
  const later = await addEmail(running, { dueAt: START + 2 * PAUSE_MS })
  const other = (await running.send()).emails[0]?.email as string
  const before = await running.email(due)
  const view = await pauseCampaign(core, key, { reason: 'manual' })
  assert.deepEqual([view.status, view.pauseReason], ['SENDING', 'manual'])
  await settleStopped(core)
  for (const id of [due, deferred, later]) {
    const { state, dueAt, heldAt } = await running.email(id)
    assert.deepEqual({ state, dueAt, heldAt }, { state: 'paused', dueAt: null, heldAt: START })
  }
  assert.equal((await running.email(other)).state, 'queued')
  clock.now += PAUSE_MS
  await resumeCampaign(core, key)
  await settleStopped(core)
  const after = await running.email(due)
  assert.deepEqual([after.state, after.dueAt, after.heldAt], ['queued', before.dueAt, null])
  assert.equal(after.giveUpAt, before.giveUpAt + PAUSE_MS)
  const again = await running.email(deferred)
  assert.deepEqual([again.state, again.dueAt, again.retryAt], ['deferred', START + 1_000, null])
  // The slot of a pace that the campaign has no more.
  assert.equal((await running.email(later)).dueAt, START + PAUSE_MS)
})

test('a pause and a resume keep the trace of an interrupted attempt', async (t) => {
  const running = await openRunning(t)
  const { core, key } = running
  const id = await addEmail(running, { state: 'sending', dueAt: null, leaseUntil: START })
  await recoverLeases(core, { until: START, except: [] })
  assert.equal((await running.email(id)).state, 'deferred')
  await pauseCampaign(core, key, { reason: 'manual' })
  await settleStopped(core)
  await resumeCampaign(core, key)
  await settleStopped(core)
  const { state, attemptCount } = await running.email(id)
  assert.deepEqual({ state, attemptCount }, { state: 'deferred', attemptCount: 0 })
})

test('verbs may be repeated, and each change is one event', async (t) => {
  const running = await openRunning(t)
  const { core, key } = running
  const details = { hardBounces: 9 }
  await pauseCampaign(core, key, { reason: 'brake', details })
  const again = await pauseCampaign(core, key, { reason: 'manual' })
  assert.deepEqual([again.pauseReason, again.pauseDetails], ['brake', details])
  await resumeCampaign(core, key)
  assert.equal((await resumeCampaign(core, key)).pausedAt, null)
  await cancelCampaign(core, key)
  await assert.rejects(cancelCampaign(core, key), { code: 'BAD_REQUEST' })
  await assert.rejects(pauseCampaign(core, key, { reason: 'manual' }), { code: 'BAD_REQUEST' })
  await assert.rejects(resumeCampaign(core, key), { code: 'BAD_REQUEST' })
  const appended = await eventsOf(running)
  assert.deepEqual(
    appended.map(({ name }) => name),
    ['campaign.paused', 'campaign.resumed', 'campaign.cancelled'],
  )
  const campaign = { campaignId: key.id, campaignName: 'Spring' }
  assert.deepEqual(appended[0]?.data, { ...campaign, reason: 'brake', figures: details })
})

test('a resume stores the figures from which the brake counts', async (t) => {
  const running = await openRunning(t)
  const { core, clock, key } = running
  const figures = { sentCount: 300, hardBounceCount: 30, refusalCount: 2, complainedCount: 1 }
  await core.store.write(async (tx) => void (await tx.update(campaignProgress).set(figures)))
  await pauseCampaign(core, key, { reason: 'brake' })
  clock.now += PAUSE_MS
  await resumeCampaign(core, key)
  const progress = await core.store.read.select().from(campaignProgress).get()
  assert.equal(progress?.resumedAt, START + PAUSE_MS)
  assert.deepEqual(progress?.brakeBase, {
    sent: 300,
    hardBounces: 30,
    refusals: 2,
    authenticationRefusals: 0,
    complaints: 1,
  })
})

test('mail that waits for a cancelled campaign ends as cancelled, and other mail does not', async (t) => {
  const running = await openRunning(t)
  const { core, key } = running
  const waiting = [
    await addEmail(running),
    await addEmail(running, { state: 'held', dueAt: null, heldAt: START }),
    await addEmail(running, { state: 'paused', dueAt: null, heldAt: START }),
  ]
  const delivered = await addEmail(running, {
    state: 'delivered',
    status: 'DELIVERED',
    dueAt: null,
  })
  const other = (await running.send()).emails[0]?.email as string
  await core.store.write(async (tx) => {
    await tx.update(campaigns).set({ totalRecipients: 9 })
    await tx.update(campaignProgress).set({ rowsMade: 4 })
  })
  const view = await cancelCampaign(core, key)
  assert.deepEqual([view.status, view.totalRecipients], ['CANCELLED', 4])
  await settleStopped(core)
  for (const id of waiting) {
    const { status, error } = await running.email(id)
    assert.deepEqual({ status, error }, { status: 'FAILED', error: 'cancelled' })
  }
  assert.equal((await running.email(delivered)).status, 'DELIVERED')
  assert.equal((await running.email(other)).state, 'queued')
  assert.equal((await core.directory.stoppedCampaigns()).size, 0)
})

test('a lost sender domain pauses the campaign; its mail waits also once the domain is back', async (t) => {
  const running = await openRunning(t)
  const id = await addEmail(running)
  await setDomain(running, false)
  await settleStopped(running.core)
  assert.equal((await campaignOf(running))?.pauseReason, 'domain_unverified')
  assert.equal((await running.email(id)).state, 'paused')
  await setDomain(running, true)
  await settleStopped(running.core)
  assert.equal((await running.email(id)).state, 'paused')
})

test('a resume is refused until the sender domain is verified again', async (t) => {
  const running = await openRunning(t)
  const { core, key } = running
  await setDomain(running, false)
  core.directory.drop()
  assert.equal((await resumeCampaign(core, key)).pausedAt, null, 'it is not paused yet')
  await settleStopped(core)
  await assert.rejects(resumeCampaign(core, key), { code: 'FORBIDDEN', message: /example\.test/ })
  assert.equal((await campaignOf(running))?.pauseReason, 'domain_unverified')
  await setDomain(running, true)
  assert.equal((await resumeCampaign(core, key)).pausedAt, null)
  const names = (await eventsOf(running)).map(({ name }) => name)
  assert.deepEqual(names, ['campaign.paused', 'campaign.resumed'])
})

test('a disabled project pauses the campaign, and its queued mail is left to fail', async (t) => {
  const running = await openRunning(t)
  const id = await addEmail(running)
  await updateProject(running.core, running.project.id, { disable: 'MANUAL' })
  await settleStopped(running.core)
  assert.equal((await campaignOf(running))?.pauseReason, 'project_disabled')
  assert.equal((await running.email(id)).state, 'queued')
})

test('mail put aside for a campaign that is not paused is due again', async (t) => {
  const running = await openRunning(t)
  const id = await addEmail(running, { state: 'paused', dueAt: null, heldAt: START })
  await settleStopped(running.core)
  assert.equal((await running.email(id)).state, 'queued')
})

test('failed mail is due again, except what was cancelled, unsubscribed or cleared', async (t) => {
  const running = await openRunning(t, { status: 'SENT', sentAt: START })
  const { core, key, clock } = running
  const failed = { state: 'failed', status: 'FAILED', dueAt: null } as const
  const again = await addEmail(running, {
    ...failed,
    error: 'given up',
    attemptCount: 3,
    failureCount: 3,
  })
  const kept = [
    await addEmail(running, { ...failed, error: 'cancelled' }),
    await addEmail(running, { ...failed, error: 'the contact has unsubscribed' }),
    await addEmail(running, { ...failed, error: 'given up', variables: null }),
    await addEmail(running, { state: 'bounced', status: 'BOUNCED', dueAt: null }),
  ]
  clock.now += PAUSE_MS
  assert.equal(await retryFailed(core, key), 1)
  const { state, status, dueAt, error, failureCount } = await running.email(again)
  assert.deepEqual(
    { state, status, dueAt, error, failureCount },
    { state: 'deferred', status: 'PENDING', dueAt: START + PAUSE_MS, error: null, failureCount: 0 },
  )
  for (const id of kept) assert.ok(['failed', 'bounced'].includes((await running.email(id)).state))
  const campaign = await campaignOf(running)
  assert.deepEqual([campaign?.status, campaign?.sentAt], ['SENT', START])
  assert.equal(await retryFailed(core, key), 0)
  await core.store.write(async (tx) => void (await tx.update(campaigns).set({ status: 'DRAFT' })))
  await assert.rejects(retryFailed(core, key), { code: 'BAD_REQUEST' })
  const cancelled = { status: 'CANCELLED' } as const
  await core.store.write(async (tx) => void (await tx.update(campaigns).set(cancelled)))
  await assert.rejects(retryFailed(core, key), {
    code: 'BAD_REQUEST',
    message: 'The campaign was cancelled, so its failed mail cannot be retried.',
  })
})
