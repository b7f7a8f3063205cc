import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { acceptMessage } from '../../../../../src/features/mail/messages/accept/accept-message.ts'
import { sendTest } from '../../../../../src/features/outreach/campaigns/send-test.ts'
import { sendCampaign } from '../../../../../src/features/outreach/campaigns/sending/send.ts'
import { loadShownCampaign } from '../../../../../src/features/outreach/campaigns/show.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { newProjectHours } from '../../../../../src/store/schema/reputation.ts'
import { address, START, type TestCore } from '../../../../core.ts'
import { listCampaigns } from '../../../../lists.ts'
import {
  addCampaign,
  addContacts,
  emailsOf,
  openSendingCore,
  people,
  runUntil,
} from '../../../outreach/campaigns/sending/campaign.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A new project that may send four emails in 24 hours, unless `limit` says otherwise. */
async function openCapped(t: TestContext, limit = '4') {
  const { core, project } = await openSendingCore(t, { PILLARBOX_LIMITS__NEW_PROJECT_DAILY: limit })
  const found = await core.directory.findProject(project.id)
  assert.ok(found)
  let sent = 0
  const send = (count: number) =>
    acceptMessage(core, {
      project: found,
      request: {
        to: Array.from({ length: count }, () => {
          sent += 1
          return { address: address(`ann${sent}@people.test`), name: null }
        }),
        from: { address: address('shop@shop.test'), name: null },
        subject: 'Hi',
        body: '<p>Hi</p>',
      },
    })
  return { core, project: found, send }
}

const count = ({ store }: TestCore) => store.read.$count(emails)

test('S27: a new project sends no more than it may, and a send is all or nothing', async (t) => {
  const { core, send } = await openCapped(t)
  await send(3)
  await assert.rejects(send(2), {
    code: 'RATE_LIMIT_EXCEEDED',
    status: 429,
    smtp: '452 4.7.1',
    message: 'A new project may send 4 emails in 24 hours, and this one has sent 3.',
    details: { limit: 4, used: 3, retryAfter: DAY_MS / 1_000 },
  })
  assert.equal(await count(core), 3)
  await send(1)
  await assert.rejects(send(1), { code: 'RATE_LIMIT_EXCEEDED' })
  assert.equal(await count(core), 4)
})

test('S27: more emails than the limit are refused without a time to try again', async (t) => {
  const { send } = await openCapped(t)
  await assert.rejects(send(5), {
    code: 'RATE_LIMIT_EXCEEDED',
    details: { limit: 4, used: 0 },
    suggestion: 'Nothing was accepted. Send at most 4 emails a day.',
  })
})

test('S27: what was sent leaves the window hour by hour, and Retry-After says when', async (t) => {
  const { core, send } = await openCapped(t)
  await send(1)
  core.clock.now += 2 * HOUR_MS + 1_000
  await send(3)
  const wanted = (used: number, retryAfter: number) => ({ details: { limit: 4, used, retryAfter } })
  await assert.rejects(send(1), wanted(4, 22 * 3_600 - 1))
  await assert.rejects(send(2), wanted(4, 24 * 3_600 - 1))
  core.clock.now = START + DAY_MS - 1
  await assert.rejects(send(1), wanted(4, 1))
  core.clock.now = START + DAY_MS
  await send(1)
})

test('S27: a deletion of contacts makes no room for more', async (t) => {
  const { core, send } = await openCapped(t)
  await send(4)
  await core.store.write((tx) => tx.delete(contacts).run())
  assert.equal(await count(core), 0)
  await assert.rejects(send(1), { code: 'RATE_LIMIT_EXCEEDED' })
})

test('S27: after 30 days, and without a limit, nothing is counted', async (t) => {
  const { core, project, send } = await openCapped(t)
  core.clock.now = START + 30 * DAY_MS - 1
  await send(4)
  await assert.rejects(send(1), { details: { limit: 4, used: 4, retryAfter: 1 } })
  core.clock.now += 1
  await send(5)
  const free = await openCapped(t, '0')
  await free.send(5)
  const rows = await free.core.store.read.select().from(newProjectHours)
  assert.deepEqual(rows, [])
  assert.equal(project.createdAt, START)
})

test('S27: the limit is one of each project', async (t) => {
  const { core, project, send } = await openCapped(t)
  await send(4)
  const other = { projectId: 'another', startsAt: START, emails: 4 }
  await core.store.write(async (tx) => {
    const row = await tx.select().from(projects).where(eq(projects.id, project.id)).get()
    assert.ok(row)
    await tx.insert(projects).values({
      ...{ ...row, id: other.projectId, publicKey: 'pk_another', secretDigest: 'another' },
    })
    await tx.insert(newProjectHours).values(other)
  })
  await assert.rejects(send(1), { details: { limit: 4, used: 4, retryAfter: DAY_MS / 1_000 } })
})

test('S27: tests of campaigns count as sends', async (t) => {
  const { core, project, send } = await openCapped(t)
  const campaignId = await addCampaign(core, project.id)
  await send(3)
  const addresses = [address('a@people.test'), address('b@people.test')]
  const refused = sendTest(core, project, { campaignId, addresses })
  await assert.rejects(refused, { code: 'RATE_LIMIT_EXCEEDED' })
  await sendTest(core, project, { campaignId, addresses: addresses.slice(1) })
  assert.equal(await count(core), 4)
})

test('S27: a campaign of a new project waits, and goes on as the window allows', async (t) => {
  const { core, project, send } = await openCapped(t)
  await send(1)
  await addContacts(core, project.id, people(6))
  const id = await addCampaign(core, project.id)
  await sendCampaign(core, { projectId: project.id, id })
  const made = async () => (await emailsOf(core, id)).length
  await runUntil(core, async () => (await made()) >= 3)
  assert.equal(await made(), 3)
  const limitedUntil = async () =>
    (await loadShownCampaign(core, { projectId: project.id, id })).limitedUntil
  assert.equal(await limitedUntil(), new Date(START + DAY_MS).toISOString())
  const draft = await addCampaign(core, project.id)
  const listed = async (campaignId: string) => {
    const { items } = await listCampaigns(core, { projectId: project.id })
    return items.find((item) => item.id === campaignId)?.limitedUntil
  }
  assert.equal(await listed(id), await limitedUntil())
  assert.equal(await listed(draft), null)
  await assert.rejects(send(1), { code: 'RATE_LIMIT_EXCEEDED' })
  core.clock.now += DAY_MS
  assert.equal(await limitedUntil(), null)
  assert.equal(await listed(id), null)
  // One of the contacts is the recipient of the single email.
  await runUntil(core, async () => (await made()) >= 6)
  assert.ok((await made()) <= 7)
})
