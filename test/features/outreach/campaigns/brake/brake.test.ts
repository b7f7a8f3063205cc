import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { findBreach } from '../../../../../src/features/outreach/campaigns/brake/brake.ts'
import {
  pauseCampaign,
  resumeCampaign,
} from '../../../../../src/features/outreach/campaigns/stopping.ts'
import type { ReplyVerdict } from '../../../../../src/formats/replies/reply.ts'
import type { AttemptOutcome } from '../../../../../src/outbound/attempt.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { openCampaign } from '../figures/sent-campaign.ts'

const LIMITS = {
  campaigns: {
    rowsAhead: 0,
    brakeMinimum: 200,
    brakeHardBounces: 8,
    brakeRefusals: 2,
    brakeComplaints: 0.3,
  },
}
const NOTHING = { hardBounces: 0, refusals: 0, complaints: 0, authenticationRefusals: 0 }

const breachOf = (figures: Partial<Parameters<typeof findBreach>[1]>, factor = 1) =>
  findBreach(LIMITS, { outcomes: 1_000, ...NOTHING, ...figures }, factor)?.exceeded

/** A campaign that brakes after ten outcomes. */
function open(t: TestContext) {
  return openCampaign(t, { brakeMinimum: 10 })
}

const verdict = (change: Partial<ReplyVerdict>): Partial<AttemptOutcome> => ({
  verdict: {
    ...{ isFinal: true, class: 'unknown', reason: 'undetermined', isHard: false, isStrike: false },
    ...{ retryAfterMs: null, site: 'none', countsAsFailure: true },
    ...change,
  },
})

const bounceReport = (emailId: string) => ({
  type: 'bounce' as const,
  emailId,
  verdict: {
    ...{ isFinal: true, class: 'hard', reason: 'userunknown', isHard: true, isStrike: false },
    ...{ retryAfterMs: null, site: 'none', countsAsFailure: true },
  } as ReplyVerdict,
  diagnostic: '550 5.1.1 No such user',
})

const spam = verdict({ class: 'content', reason: 'spamdetected' })
const blocked = verdict({ class: 'block', reason: 'blocked', isFinal: false })
const unauthenticated: Partial<AttemptOutcome> = {
  ...verdict({ class: 'policy', reason: 'authfailure' }),
  reply: {
    code: 550,
    enhancedCode: '5.7.26',
    text: 'Unauthenticated email is not accepted due to the domain DMARC policy',
  },
}

test('limits are percents of the outcomes, and 0 is off', () => {
  assert.equal(breachOf({ hardBounces: 80 }), undefined)
  assert.equal(breachOf({ hardBounces: 81 }), 'hardBounces')
  assert.equal(breachOf({ refusals: 21 }), 'refusals')
  assert.equal(breachOf({ complaints: 4 }), undefined)
  assert.equal(breachOf({ complaints: 5 }), 'complaints')
  assert.equal(breachOf({ outcomes: 199, hardBounces: 150 }), undefined)
  assert.equal(breachOf({ outcomes: 200, hardBounces: 150 }), 'hardBounces')
  assert.equal(breachOf({ hardBounces: 160 }, 2), undefined)
  assert.equal(breachOf({ hardBounces: 161 }, 2), 'hardBounces')
  assert.equal(breachOf({ outcomes: 10, authenticationRefusals: 10 }), 'authenticationRefusals')
  assert.equal(breachOf({ outcomes: 10, authenticationRefusals: 19 }, 2), undefined)
  const off = { campaigns: { ...LIMITS.campaigns, brakeHardBounces: 0 } }
  const figures = { ...NOTHING, outcomes: 1_000, hardBounces: 900 }
  assert.equal(findBreach(off, figures, 1), undefined)
})

test('hard bounces pause a campaign, and after a resume twice as many', async (t) => {
  const campaign = await open(t)
  const ids = await campaign.add(60)
  const settle = async (count: number, kind: 'hard' | 'delivered') => {
    for (const id of ids.splice(0, count)) await campaign.settle(id, kind)
    await campaign.count()
    return campaign.campaign()
  }
  assert.equal((await settle(9, 'delivered')).pausedAt, null)
  const paused = await settle(1, 'hard')
  assert.deepEqual([paused.status, paused.pauseReason], ['SENDING', 'brake'])
  const figures = {
    ...{ exceeded: 'hardBounces', limit: 8, percent: 10, outcomes: 10, hardBounces: 1 },
    ...{ refusals: 0, complaints: 0, authenticationRefusals: 0 },
  }
  assert.deepEqual(paused.pauseDetails, figures)
  const rows = await campaign.core.store.read
    .select()
    .from(events)
    .where(eq(events.name, 'campaign.paused'))
  assert.deepEqual(
    rows.map(({ data }) => [data?.reason, data?.figures]),
    [['brake', figures]],
  )
  await resumeCampaign(campaign.core, campaign.key)
  // It counts from now: one of ten is less than 16 percent, two are more.
  await settle(9, 'delivered')
  assert.equal((await settle(1, 'hard')).pausedAt, null)
  assert.equal((await settle(1, 'hard')).pauseReason, 'brake')
  assert.equal((await campaign.progress()).brakeCount, 2)
})

test('refusals for reputation count once for each email, also those for now', async (t) => {
  const campaign = await open(t)
  const ids = await campaign.add(12)
  for (const id of ids.slice(0, 9)) await campaign.settle(id, 'delivered')
  await campaign.settle(ids[9] as string, 'deferred', blocked)
  await campaign.settle(ids[9] as string, 'deferred', blocked)
  await campaign.count()
  assert.equal((await campaign.progress()).refusalCount, 1)
  assert.equal((await campaign.campaign()).pausedAt, null)
  await campaign.settle(ids[10] as string, 'bounced', { ...spam, result: 'bounced' })
  await campaign.count()
  const { pauseReason, pauseDetails } = await campaign.campaign()
  assert.equal(pauseReason, 'brake')
  assert.equal(pauseDetails?.exceeded, 'refusals')
  assert.equal((await campaign.progress()).refusalCount, 2)
})

test('a site that refuses everything for now pauses a campaign that has sent nothing', async (t) => {
  const campaign = await open(t)
  for (const id of await campaign.add(10)) await campaign.settle(id, 'deferred', blocked)
  await campaign.count()
  assert.equal((await campaign.campaign()).pauseReason, 'brake')
})

test('ten authentication refusals pause a campaign at once', async (t) => {
  const campaign = await openCampaign(t)
  const ids = await campaign.add(10)
  const refuse = (id: string | undefined) =>
    campaign.settle(id as string, 'bounced', { ...unauthenticated, result: 'bounced' })
  for (const id of ids.slice(0, 9)) await refuse(id)
  await campaign.count()
  assert.equal((await campaign.campaign()).pausedAt, null)
  await refuse(ids[9])
  await campaign.count()
  const { pauseReason, pauseDetails } = await campaign.campaign()
  assert.deepEqual([pauseReason, pauseDetails?.exceeded], ['brake', 'authenticationRefusals'])
})

test('five complaints pause a campaign, four do not', async (t) => {
  const campaign = await open(t)
  const ids = await campaign.add(20)
  for (const id of ids) await campaign.settle(id, 'delivered')
  const complain = async (emailId: string) => {
    await campaign.report({ type: 'complaint', emailId, feedbackType: 'abuse' })
    await campaign.count()
    return (await campaign.campaign()).pauseReason
  }
  for (const id of ids.slice(0, 4)) assert.equal(await complain(id), null)
  assert.equal(await complain(ids[4] as string), 'brake')
})

test('after a resume, complaints about mail from before it do not count', async (t) => {
  const campaign = await open(t)
  const ids = await campaign.add(40)
  const deliver = async (count: number) => {
    const sent = ids.splice(0, count)
    for (const id of sent) await campaign.settle(id, 'delivered')
    await campaign.count()
    return sent
  }
  const complain = async (emailIds: readonly string[]) => {
    for (const emailId of emailIds)
      await campaign.report({ type: 'complaint', emailId, feedbackType: 'abuse' })
    await campaign.count()
    return (await campaign.campaign()).pauseReason
  }
  const before = await deliver(9)
  await pauseCampaign(campaign.core, campaign.key, { reason: 'manual' })
  campaign.later(1)
  await resumeCampaign(campaign.core, campaign.key)
  const after = await deliver(20)
  assert.equal(await complain(before.slice(0, 6)), null)
  assert.equal(await complain(after.slice(0, 4)), null)
  assert.equal(await complain(after.slice(4, 5)), 'brake')
  assert.equal((await campaign.campaign()).pauseDetails?.complaints, 5)
  assert.equal((await campaign.progress()).complainedCount, 11)
})

test('after a resume, a late bounce of mail from before it does not count', async (t) => {
  const campaign = await open(t)
  const ids = await campaign.add(30)
  for (const id of ids.slice(0, 8)) await campaign.settle(id, 'delivered')
  await campaign.count()
  await pauseCampaign(campaign.core, campaign.key, { reason: 'manual' })
  campaign.later(1)
  await resumeCampaign(campaign.core, campaign.key)
  for (const id of ids.slice(8, 20)) await campaign.settle(id, 'delivered')
  for (const emailId of ids.slice(0, 4)) await campaign.report(bounceReport(emailId))
  await campaign.count()
  assert.equal((await campaign.campaign()).pausedAt, null)
  assert.equal((await campaign.progress()).bouncedCount, 4)
  for (const emailId of ids.slice(8, 10)) await campaign.report(bounceReport(emailId))
  await campaign.count()
  assert.equal((await campaign.campaign()).pauseReason, 'brake')
})

test('an attempt counts although it follows one that was deleted', async (t) => {
  const campaign = await openCampaign(t)
  const [first, second, third] = (await campaign.add(3)) as [string, string, string]
  await campaign.settle(first, 'delivered')
  await campaign.settle(second, 'delivered')
  await campaign.count()
  await campaign.deleteContact(second)
  await campaign.settle(third, 'hard')
  await campaign.count()
  assert.equal((await campaign.progress()).hardBounceCount, 1)
})
