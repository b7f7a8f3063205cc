import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { startLazyReader } from '../../../../../src/features/ground/events/readers.ts'
import { UNSUBSCRIBED } from '../../../../../src/features/mail/messages/delivery/prepare.ts'
import { retryEmails } from '../../../../../src/features/mail/messages/queue/operate.ts'
import type { Hit } from '../../../../../src/features/mail/tracking/record-hits.ts'
import {
  figuresHandler,
  listClickedLinks,
  viewStats,
} from '../../../../../src/features/outreach/campaigns/figures/figures.ts'
import { retryFailed } from '../../../../../src/features/outreach/campaigns/retry-failed.ts'
import type { ReplyVerdict } from '../../../../../src/formats/replies/reply.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { type Email, emails } from '../../../../../src/store/schema/messages.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openCampaign, type SentCampaign } from './sent-campaign.ts'

const hard: ReplyVerdict = {
  ...{ isFinal: true, class: 'hard', reason: 'userunknown', isHard: true, isStrike: false },
  ...{ retryAfterMs: null, site: 'none', countsAsFailure: true },
}

const bounce = (emailId: string) => ({
  ...{ type: 'bounce' as const, emailId, verdict: hard, diagnostic: '550 5.1.1 No such user' },
})

const complaint = (emailId: string) => ({
  ...{ type: 'complaint' as const, emailId, feedbackType: 'abuse' },
})

const FIGURES = {
  sentCount: ({ sentAt, bouncedAt }: Email) => sentAt !== null || bouncedAt !== null,
  deliveredCount: ({ deliveredAt, bouncedAt }: Email) => deliveredAt !== null && bouncedAt === null,
  openedCount: ({ openedAt }: Email) => openedAt !== null,
  clickedCount: ({ clickedAt }: Email) => clickedAt !== null,
  bouncedCount: ({ bouncedAt, complainedAt }: Email) => bouncedAt !== null && complainedAt === null,
  complainedCount: ({ complainedAt }: Email) => complainedAt !== null,
  suppressedCount: ({ state }: Email) => state === 'suppressed',
  failedCount: ({ state, error }: Email) => state === 'failed' && error !== UNSUBSCRIBED,
  failedUnsubscribedCount: ({ state, error }: Email) =>
    state === 'failed' && error === UNSUBSCRIBED,
}

function recount(rows: readonly Email[], unsubscribed: ReadonlySet<string>) {
  const counts = Object.entries(FIGURES).map(([name, has]) => [name, rows.filter(has).length])
  const unsubscribes = rows.filter(
    ({ id, bouncedAt, complainedAt }) =>
      unsubscribed.has(id) && bouncedAt === null && complainedAt === null,
  )
  return {
    ...Object.fromEntries(counts),
    unsubscribedCount: unsubscribes.length,
    machineOpens: rows.reduce((sum, { machineOpens }) => sum + machineOpens, 0),
    machineClicks: rows.reduce((sum, { machineClicks }) => sum + machineClicks, 0),
  }
}

async function countedOf(campaign: SentCampaign) {
  const progress = await campaign.progress()
  const { unsubscribedCount, machineOpens, machineClicks } = progress
  const names = Object.keys(FIGURES) as (keyof typeof FIGURES)[]
  const counts = Object.fromEntries(names.map((name) => [name, progress[name]]))
  return { ...counts, unsubscribedCount, machineOpens, machineClicks }
}

/** Numbers below `end`, the same in every run. */
function createRandom(seed: number) {
  let state = seed
  return (end: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * end)
  }
}

/** A store that dies now and then, before or after a commit. */
function mortal(store: Store, random: (end: number) => number): Store {
  return {
    ...store,
    write: async (fn) => {
      const death = random(6)
      if (death === 0) throw new Error('dead')
      const value = await store.write(fn)
      if (death === 1) throw new Error('dead')
      return value
    },
  }
}

async function act(campaign: SentCampaign, id: string, how: number): Promise<boolean> {
  const hit = { emailId: id, at: campaign.core.now(), link: 'https://shop.test/a' }
  const email = await campaign.email(id)
  const isSent = email.sentAt !== null
  switch (how) {
    case 0:
      if (email.state === 'queued' || email.state === 'deferred')
        await campaign.settle(id, 'delivered')
      return false
    case 1:
      if (email.state === 'queued') await campaign.settle(id, 'deferred')
      return false
    case 2:
      if (email.state === 'queued') await campaign.settle(id, 'hard')
      return false
    case 3:
      await campaign.report(bounce(id))
      return false
    case 4:
      if (isSent) await campaign.report(complaint(id))
      return false
    case 5:
    case 6:
      if (isSent) await campaign.hit({ ...hit, type: 'open', isMachine: how === 6 } as Hit)
      return false
    case 7:
    case 8:
      if (isSent) await campaign.hit({ ...hit, type: 'click', isMachine: how === 8 } as Hit)
      return false
    case 9:
      return campaign.unsubscribe(id)
    case 10:
      if (email.state === 'queued') await campaign.fail(id, UNSUBSCRIBED)
      return false
    case 11:
      if (email.state === 'queued') await campaign.fail(id, 'given up')
      return false
    default:
      await campaign.deleteContact(id)
      return false
  }
}

for (const seed of [1, 2]) {
  test(`figures equal a recount after kills, deletions and late reports (seed ${seed})`, async (t) => {
    const campaign = await openCampaign(t)
    const random = createRandom(seed)
    const left: Email[] = []
    const unsubscribed = new Set<string>()
    let ids = await campaign.add(60)
    let deletedWaiting = 0
    for (let step = 0; step < 400; step += 1) {
      const id = ids[random(ids.length)] as string
      const how = random(60) === 0 ? 12 : random(12)
      campaign.later(20)
      if (how === 12) {
        const email = await campaign.email(id)
        left.push(email)
        ids = ids.filter((each) => each !== id)
        if (['queued', 'deferred'].includes(email.state)) deletedWaiting += 1
      }
      if (await act(campaign, id, how)) unsubscribed.add(id)
      if (step % 90 === 0) await retryFailed(campaign.core, campaign.key)
      if (random(10) === 0) await countAndDie(t, campaign, random)
    }
    await campaign.count()
    const rows = [...(await campaign.emails()), ...left]
    assert.deepEqual(await countedOf(campaign), recount(rows, unsubscribed))
    const { skipped } = await viewStats(campaign.core, campaign.key)
    assert.equal(skipped.deleted, deletedWaiting)
  })
}

/** A follower that dies while it counts, perhaps right after a commit. */
async function countAndDie(
  _: TestContext,
  campaign: SentCampaign,
  random: (end: number) => number,
) {
  const store = mortal(campaign.core.store, random)
  const follower = startLazyReader({ ...campaign.core, store }, [figuresHandler(campaign.core)])
  const caughtUp = follower.caughtUp().catch(() => undefined)
  await Promise.race([caughtUp, new Promise((resolve) => setTimeout(resolve, random(8)))])
  await follower.stop()
}

test('a complaint moves a recipient who had unsubscribed, and a late bounce one who was delivered', async (t) => {
  const campaign = await openCampaign(t)
  const [first, second] = (await campaign.add(2)) as [string, string]
  await campaign.settle(first, 'delivered')
  await campaign.settle(second, 'delivered')
  await campaign.unsubscribe(first)
  await campaign.count()
  const before = await viewStats(campaign.core, campaign.key)
  assert.deepEqual([before.deliveredCount, before.unsubscribedCount], [2, 1])
  assert.deepEqual([before.deliveryRate, before.unsubscribeRate], [100, 50])
  await campaign.report(complaint(first))
  await campaign.report(bounce(second))
  await campaign.count()
  const after = await viewStats(campaign.core, campaign.key)
  assert.deepEqual([after.sentCount, after.deliveredCount], [2, 1])
  assert.deepEqual([after.unsubscribedCount, after.complainedCount, after.bouncedCount], [0, 1, 1])
})

test('stats name what waits, what was skipped and what failed', async (t) => {
  const campaign = await openCampaign(t)
  const ids = (await campaign.add(6)) as [string, string, string, string, string, string]
  await campaign.settle(ids[0], 'deferred')
  await campaign.fail(ids[1], UNSUBSCRIBED)
  await campaign.fail(ids[2], 'given up')
  await campaign.deleteContact(ids[3])
  await campaign.count()
  const stats = await viewStats(campaign.core, campaign.key)
  assert.deepEqual(stats.skipped, { suppressed: 0, unsubscribed: 1, deleted: 1 })
  assert.deepEqual([stats.pending, stats.deferred, stats.failedCount], [3, 1, 1])
  assert.deepEqual([stats.sentCount, stats.openRate], [0, 0])
  // A retry has no event.
  await retryFailed(campaign.core, campaign.key)
  const retried = await viewStats(campaign.core, campaign.key)
  assert.deepEqual([retried.pending, retried.failedCount], [4, 0])
  await campaign.fail(ids[2], 'given up')
  await campaign.count()
  assert.equal((await viewStats(campaign.core, campaign.key)).failedCount, 1)
  await retryEmails(campaign.core, [ids[2]])
  assert.equal((await viewStats(campaign.core, campaign.key)).failedCount, 0)
})

test('links count clicks, and each recipient once', async (t) => {
  const campaign = await openCampaign(t)
  const [first, second] = (await campaign.add(2)) as [string, string]
  await campaign.settle(first, 'delivered')
  await campaign.settle(second, 'delivered')
  campaign.later(600)
  const click = (emailId: string, link: string, isMachine = false) => {
    campaign.later(60)
    return campaign.hit({ emailId, link, at: campaign.core.now(), type: 'click', isMachine })
  }
  await click(first, 'https://shop.test/a')
  await click(first, 'https://shop.test/a')
  await campaign.count()
  await click(first, 'https://shop.test/a')
  await click(second, 'https://shop.test/a')
  await click(second, 'https://shop.test/b?q=1&r=2')
  await click(second, 'https://shop.test/c', true)
  await campaign.count()
  assert.deepEqual(await listClickedLinks(campaign.core, campaign.key), [
    { url: 'https://shop.test/a', clicks: 4, uniqueClickers: 2 },
    { url: 'https://shop.test/b?q=1&r=2', clicks: 1, uniqueClickers: 1 },
  ])
})

test('beyond twenty clicks of an email, further ones count as clicks only', async (t) => {
  const campaign = await openCampaign(t)
  const [earlier] = (await campaign.add(1)) as [string]
  await campaign.settle(earlier, 'delivered')
  campaign.later(600)
  const click = (emailId: string, link: string) => {
    campaign.later(60)
    const hit = { link, at: campaign.core.now(), type: 'click', isMachine: false } as const
    return campaign.hit({ emailId, ...hit })
  }
  for (let at = 0; at < 20; at += 1) await click(earlier, 'https://shop.test/a')
  await click(earlier, 'https://shop.test/new')
  await campaign.count()
  assert.deepEqual(await listClickedLinks(campaign.core, campaign.key), [
    { url: 'https://shop.test/a', clicks: 20, uniqueClickers: 1 },
    { url: 'https://shop.test/new', clicks: 1, uniqueClickers: 0 },
  ])
})

test('clicks of other mail do not keep a link from its recipient', async (t) => {
  const campaign = await openCampaign(t)
  const [id, other] = (await campaign.add(2)) as [string, string]
  const { contactId } = await campaign.email(id)
  const ofSame = { contactId, campaignId: null }
  await campaign.core.store.write((tx) => setEmails(tx, ofSame, eq(emails.id, other)))
  for (const each of [id, other]) await campaign.settle(each, 'delivered')
  campaign.later(600)
  const click = (emailId: string, link: string) => {
    campaign.later(60)
    const hit = { link, at: campaign.core.now(), type: 'click', isMachine: false } as const
    return campaign.hit({ emailId, ...hit })
  }
  const clickOther = async (count: number) => {
    for (let at = 0; at < count; at += 1) await click(other, 'https://shop.test/a')
  }
  await clickOther(25)
  await click(id, 'https://shop.test/a')
  await clickOther(25)
  await click(id, 'https://shop.test/b')
  await click(id, 'https://shop.test/a')
  await campaign.count()
  assert.deepEqual(await listClickedLinks(campaign.core, campaign.key), [
    { url: 'https://shop.test/a', clicks: 2, uniqueClickers: 1 },
    { url: 'https://shop.test/b', clicks: 1, uniqueClickers: 1 },
  ])
})

test('mail without a campaign changes nothing', async (t) => {
  const campaign = await openCampaign(t)
  const [id] = (await campaign.add(1)) as [string]
  await campaign.core.store.write((tx) => setEmails(tx, { campaignId: null }, eq(emails.id, id)))
  await campaign.settle(id, 'delivered')
  await campaign.count()
  assert.equal((await campaign.progress()).sentCount, 0)
  assert.equal((await campaign.email(id)).figures, 0)
  await campaign.core.store.write((tx) => tx.run(sql`delete from emails`))
  assert.equal((await campaign.progress()).skippedDeleted, 0)
})
