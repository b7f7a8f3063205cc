import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { UNSUBSCRIBED } from '../../../../../src/features/mail/messages/delivery/prepare.ts'
import { exportRecipients } from '../../../../../src/features/outreach/campaigns/figures/export-recipients.ts'
import {
  OUTCOMES,
  type RecipientOutcome,
} from '../../../../../src/features/outreach/campaigns/figures/recipients.ts'
import { createExportSlots } from '../../../../../src/features/people/import-export/export-slots.ts'
import { sealCursor } from '../../../../../src/records/cursor.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { type Email, emails } from '../../../../../src/store/schema/messages.ts'
import { listRecipients } from '../../../../lists.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openCampaign, type SentCampaign } from './sent-campaign.ts'

const hit = { link: 'https://shop.test/a', isMachine: false, type: 'click' } as const

/** One recipient of each outcome, in the order of the names. */
async function openMixed(t: TestContext) {
  const campaign = await openCampaign(t)
  const ids = await campaign.add(10)
  const [delivered, clicked, bounced, complained, unsubscribed] = ids as string[]
  const [failed, skipped, refused, pending, deferred] = ids.slice(5) as string[]
  for (const id of [delivered, clicked, complained, unsubscribed]) {
    await campaign.settle(id as string, 'delivered')
  }
  campaign.later(60)
  await campaign.hit({ ...hit, emailId: clicked as string, at: campaign.core.now() })
  await campaign.settle(bounced as string, 'hard')
  await campaign.report({
    type: 'complaint',
    emailId: complained as string,
    feedbackType: null,
  })
  campaign.later(60)
  await campaign.unsubscribe(unsubscribed as string)
  await campaign.fail(failed as string, 'given up')
  await campaign.fail(refused as string, UNSUBSCRIBED)
  await campaign.core.store.write((tx) =>
    setEmails(
      tx,
      { state: 'suppressed', status: 'SUPPRESSED', dueAt: null },
      eq(emails.id, skipped as string),
    ),
  )
  await campaign.settle(deferred as string, 'deferred')
  await campaign.count()
  const named = { delivered, clicked, bounced, complained, unsubscribed, failed, skipped, refused }
  return { campaign, ids, named: { ...named, pending, deferred } }
}

const pageOf = (campaign: SentCampaign, outcome?: RecipientOutcome, more = {}) =>
  listRecipients(campaign.core, { ...campaign.key, outcome, limit: 20, ...more })

async function idsOf(campaign: SentCampaign, outcome?: RecipientOutcome) {
  return (await pageOf(campaign, outcome)).data.map(({ emailId }) => emailId)
}

test('recipients are listed by outcome', async (t) => {
  const { campaign, ids, named } = await openMixed(t)
  const { delivered, clicked, bounced, complained, unsubscribed } = named
  assert.deepEqual(
    (await idsOf(campaign, 'delivered')).sort(),
    [delivered, clicked, complained, unsubscribed].sort(),
  )
  assert.deepEqual(await idsOf(campaign, 'clicked'), [clicked])
  assert.deepEqual(await idsOf(campaign, 'opened'), [])
  assert.deepEqual(await idsOf(campaign, 'bounced'), [bounced])
  assert.deepEqual(await idsOf(campaign, 'complained'), [complained])
  assert.deepEqual(await idsOf(campaign, 'unsubscribed'), [unsubscribed])
  assert.deepEqual(await idsOf(campaign, 'failed'), [named.failed])
  assert.deepEqual(await idsOf(campaign, 'skipped'), [named.skipped, named.refused])
  assert.deepEqual(await idsOf(campaign, 'pending'), [named.deferred, named.pending])
  assert.deepEqual((await idsOf(campaign)).sort(), [...ids].sort())
})

test('a recipient has its address, the time of the outcome and the reason', async (t) => {
  const { campaign, named } = await openMixed(t)
  const email = await campaign.email(named.bounced as string)
  const { data } = await pageOf(campaign, 'bounced')
  assert.deepEqual(data, [
    {
      emailId: email.id,
      contactId: email.contactId,
      email: email.recipient,
      occurredAt: new Date(email.bouncedAt as number).toISOString(),
      status: 'BOUNCED',
      reason: email.error,
      reasonCode: 'bounced',
      reasonData: {
        ...{ at: new Date(email.bouncedAt as number).toISOString(), error: email.error },
        ...{ host: null, class: null, reply: null, suppressedSince: null },
      },
    },
  ])
  assert.ok(email.error)
  const { data: left } = await pageOf(campaign, 'unsubscribed')
  assert.equal(left[0]?.occurredAt, new Date(campaign.clock.now).toISOString())
  const { data: skipped } = await pageOf(campaign, 'skipped')
  assert.deepEqual(
    skipped.map(({ reason }) => reason),
    ['the address is suppressed', UNSUBSCRIBED],
  )
  assert.deepEqual(
    skipped.map(({ reasonCode, reasonData }) => [reasonCode, reasonData?.refusal]),
    [
      ['suppressed', undefined],
      ['refused', 'unsubscribed'],
    ],
  )
  const { data: arrived } = await pageOf(campaign, 'delivered')
  assert.equal(arrived[0]?.reasonCode, null)
  const { data: waiting } = await pageOf(campaign, 'pending')
  assert.deepEqual(
    waiting.map(({ reason, reasonCode }) => reason === null || reasonCode === 'deferred'),
    waiting.map(() => true),
  )
})

test('pages of any size have every recipient once, across lanes, and a bare id is a cursor', async (t) => {
  const { campaign, ids } = await openMixed(t)
  for (const outcome of [undefined, ...OUTCOMES]) {
    const whole = await idsOf(campaign, outcome)
    for (const limit of [1, 2, 3]) {
      const seen: string[] = []
      let cursor: string | null | undefined
      do {
        const page = await pageOf(campaign, outcome, { limit, cursor: cursor ?? undefined })
        assert.ok(page.data.length <= limit)
        assert.equal(page.hasMore, page.cursor !== null)
        assert.ok(page.cursor === null || page.data.length === limit, 'no empty page')
        seen.push(...page.data.map(({ emailId }) => emailId))
        cursor = page.cursor
      } while (cursor !== null)
      assert.deepEqual(seen, whole, `${outcome} by ${limit}`)
    }
    const [first, ...others] = whole
    if (first === undefined) continue
    const { data } = await pageOf(campaign, outcome, { cursor: first })
    assert.deepEqual(
      data.map(({ emailId }) => emailId),
      others,
    )
  }
  const seal = (lane: string | number, after: string, { id } = campaign.key) =>
    sealCursor(campaign.core, 'recipients', { lane, after, campaign: id })
  await pageOf(campaign, 'bounced', { cursor: seal(0, '5') })
  const sealed = [
    seal(0, '5', { ...campaign.key, id: newId() }),
    seal(9, '5'),
    seal(1, '5'),
    seal(0, newId()),
    seal('bounced', newId()),
    seal('failed', '5'),

    sealCursor(campaign.core, 'emails', '1_2'),
  ]
  for (const cursor of ['x', '9_5', '0_5', '', ids[0]?.replace(/./g, '0'), ...sealed]) {
    await assert.rejects(
      pageOf(campaign, 'bounced', { cursor }),
      { code: 'VALIDATION_ERROR' },
      cursor,
    )
  }
})

test('a cursor of before the lanes had names continues in its lane, and misses nobody', async (t) => {
  const campaign = await openCampaign(t)
  const [deferred, queued, held, tried, untried] = (await campaign.add(5)) as [string, ...string[]]
  await campaign.core.store.write(async (tx) => {
    const set = (id: string | undefined, change: Partial<Email>) =>
      setEmails(tx, { dueAt: null, ...change }, eq(emails.id, id as string))
    await set(deferred, { state: 'deferred', dueAt: 1 })
    await set(held, { state: 'held', heldAt: 1 })
    await set(tried, { state: 'paused', attemptCount: 1 })
    await set(untried, { state: 'paused' })
  })
  const after = async (lane: number | string, place: string) => {
    const at = { lane, after: place, campaign: campaign.key.id }
    const cursor = sealCursor(campaign.core, 'recipients', at)
    return (await pageOf(campaign, 'pending', { cursor })).data.map(({ emailId }) => emailId)
  }
  const whole = [deferred, queued, held, tried, untried]
  const beyond = String(Number.MAX_SAFE_INTEGER)
  // Those of before: sending, deferred, queued, held, paused.
  assert.deepEqual(await after(0, '1'), whole)
  assert.deepEqual(await after(1, beyond), whole)
  assert.deepEqual(await after(1, '1'), whole.slice(1))
  assert.deepEqual(await after(2, '1'), whole.slice(2))
  assert.deepEqual(await after(3, '1'), whole.slice(3))
  assert.deepEqual(await after(4, beyond), whole.slice(3))
  await assert.rejects(after(5, '1'), { code: 'VALIDATION_ERROR' })
})

test('the export has the data of the contacts when asked', async (t) => {
  const { campaign, ids } = await openMixed(t)
  const { contactId } = await campaign.email(ids[0] as string)
  await campaign.core.store.write((tx) =>
    tx
      .update(contacts)
      .set({ data: { name: '=Ada', plan: 'pro' } })
      .where(eq(contacts.id, contactId)),
  )
  const slots = createExportSlots()
  const query = { ...campaign.key, hasData: true }
  let text = ''
  for await (const piece of await exportRecipients({ ...campaign.core, slots }, query)) {
    text += Buffer.from(piece).toString()
  }
  const lines = text.trimEnd().split('\r\n')
  assert.match(lines[0] ?? '', /,clicks,data\.name,data\.plan$/)
  assert.equal(lines.length, 11)
  const row = lines.find((line) => line.startsWith(String(ids[0])))
  assert.match(String(row), /,'=Ada,pro$/)
})

test('large data is written in pieces of about a megabyte', async (t) => {
  const campaign = await openCampaign(t)
  await campaign.add(40)
  const data = { note: 'x'.repeat(60_000) }
  await campaign.core.store.write((tx) => tx.update(contacts).set({ data }))
  const slots = createExportSlots()
  const sizes: number[] = []
  const query = { ...campaign.key, hasData: true }
  for await (const piece of await exportRecipients({ ...campaign.core, slots }, query)) {
    sizes.push(piece.length)
  }
  assert.ok(sizes.reduce((sum, size) => sum + size, 0) > 40 * 60_000)
  assert.ok(Math.max(...sizes) < 1024 * 1024 + 61_000, sizes.join(' '))
})

test('the export has every recipient, and no formula', async (t) => {
  const { campaign, ids } = await openMixed(t)
  await campaign.core.store.write((tx) =>
    tx
      .update(emails)
      .set({ recipient: '=cmd@evil.test' })
      .where(eq(emails.id, ids[0] as string)),
  )
  const slots = createExportSlots()
  const pieces = await exportRecipients({ ...campaign.core, slots }, campaign.key)
  let text = ''
  for await (const piece of pieces) text += Buffer.from(piece).toString()
  const lines = text.trimEnd().split('\r\n')
  assert.equal(
    lines[0],
    'emailId,contactId,email,occurredAt,status,reason,openedAt,clickedAt,clicks',
  )
  assert.equal(lines.length, 11)
  assert.match(text, /,'=cmd@evil\.test,/)
  const failed = await exportRecipients(
    { ...campaign.core, slots },
    { ...campaign.key, outcome: 'failed' },
  )
  const clicked = lines.find((line) => line.startsWith(String(ids[1])))
  const at = new Date((await campaign.email(ids[1] as string)).clickedAt as number).toISOString()
  assert.match(String(clicked), new RegExp(`,${at},1$`))
  let rows = 0
  for await (const piece of failed) rows += Buffer.from(piece).toString().split('\r\n').length - 1
  assert.equal(rows, 2)
})
