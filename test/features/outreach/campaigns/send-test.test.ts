/** Tests of a campaign as they go out. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDeliverer } from '../../../../src/features/mail/messages/delivery/deliverer.ts'
import { startQueue } from '../../../../src/features/mail/messages/queue/queue.ts'
import {
  sendTest,
  type TestRequest,
} from '../../../../src/features/outreach/campaigns/send-test.ts'
import { buildMessage } from '../../../../src/formats/compose/build-message.ts'
import { createTemplateCache } from '../../../../src/formats/precomposed/template-cache.ts'
import { readPageToken } from '../../../../src/formats/signed-tokens.ts'
import { newId } from '../../../../src/store/ids.ts'
import type { Campaign } from '../../../../src/store/schema/campaigns.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { address } from '../../../core.ts'
import { testTracker } from '../../../formats/tracker.ts'
import { pause } from '../../../pause.ts'
import { openSender, type Sender } from '../../mail/messages/sender.ts'
import { addCampaign, addContacts } from './sending/campaign.ts'

async function open(t: TestContext, fields: Partial<Campaign> = {}) {
  const sender = await openSender(t)
  const sentFrom = { fromAddress: 'shop@example.test', fromDomain: 'example.test' }
  const campaignId = await addCampaign(sender.core, sender.project.id, { ...sentFrom, ...fields })
  const send = (to: string[], more: Partial<TestRequest> = {}) =>
    sendTest(sender.core, sender.project, { campaignId, addresses: to.map(address), ...more })
  return { sender, campaignId, send }
}

/** The messages that the queue hands to outbound, by recipient. */
async function deliver(t: TestContext, sender: Sender, count: number) {
  const queue = startQueue(sender.core, createDeliverer(sender.core))
  t.after(() => queue.stop())
  while (sender.tasks.length < count) await pause()
  const cache = createTemplateCache(testTracker())
  return new Map(
    sender.tasks.map(({ recipient, source }) => {
      const { octets, subject } = buildMessage(source, cache)
      return [recipient, { octets, subject, source }]
    }),
  )
}

test('a test is marked, untracked, and belongs to no campaign', async (t) => {
  const { sender, send } = await open(t, {
    body: '<p>Hello {{ name }}, <a href="https://shop.test/a">look</a></p>',
    replyTo: 'help@example.test',
    fromName: 'Ann & Co',
  })
  await addContacts(sender.core, sender.project.id, [
    { address: 'ada@dest.test', subscribed: false, data: { name: 'Ada' } },
  ])
  const { emails } = await send(['ada@dest.test'])
  const email = await sender.email(emails[0]?.id as string)
  const { isTest, isTracked, campaignId, sourceType, contentClass, queueClass, state } = email
  assert.deepEqual(
    { isTest, isTracked, campaignId, sourceType, contentClass, queueClass, state },
    {
      ...{ isTest: true, isTracked: false, campaignId: null, sourceType: 'TRANSACTIONAL' },
      ...{ contentClass: 'MARKETING', queueClass: 1, state: 'queued' },
    },
  )
  const message = (await deliver(t, sender, 1)).get('ada@dest.test')
  assert.equal(message?.subject, '[TEST] Hi Ada')
  const octets = message?.octets ?? ''
  assert.match(octets, /^X-Pillarbox-Test: 1\r$/m)
  assert.match(octets, /^Precedence: bulk\r$/m)
  assert.match(octets, /^List-Unsubscribe-Post: /m)
  assert.match(
    octets,
    /^From: Ann & Co <shop@example\.test>|^From: "Ann & Co" <shop@example\.test>/m,
  )
  assert.match(octets, /^Reply-To: help@example\.test\r$/m)
  assert.match(octets, /Hello Ada/)
  assert.match(octets, /https:\/\/shop\.test\/a/)
  assert.doesNotMatch(octets, /\/t\/[co]\//)
})

test('other mail has no mark of a test', async (t) => {
  const { sender } = await open(t)
  const { emails } = await sender.send()
  assert.equal((await sender.email(emails[0]?.email as string)).isTest, false)
  const octets = (await deliver(t, sender, 1)).get('ada@dest.test')?.octets ?? ''
  assert.doesNotMatch(octets, /X-Pillarbox-Test|\[TEST\]|Precedence/)
})

test('a test reaches unsubscribed contacts, also from a campaign that is paused or cancelled', async (t) => {
  for (const fields of [
    { status: 'SENDING', pausedAt: 1, pauseReason: 'manual' },
    { status: 'CANCELLED' },
    { status: 'SENT', type: 'HEADLESS' },
  ] as const) {
    const { sender, send } = await open(t, fields)
    const people = [{ address: 'ada@dest.test', subscribed: false }]
    await addContacts(sender.core, sender.project.id, people)
    await send(['ada@dest.test'])
    const messages = await deliver(t, sender, 1)
    assert.equal(messages.get('ada@dest.test')?.subject, '[TEST] Hi')
    const contact = await sender.core.store.read.select().from(contacts).get()
    assert.equal(contact?.subscribed, false)
  }
})

test('each address gets the message of its own contact; unknown ones become contacts', async (t) => {
  const { sender, send } = await open(t)
  await addContacts(sender.core, sender.project.id, [
    { address: 'ada@dest.test', data: { name: 'Ada' } },
  ])
  const { emails } = await send(['ada@dest.test', 'new@dest.test', 'ADA@dest.test'])
  assert.deepEqual(
    emails.map(({ recipient }) => recipient),
    ['ada@dest.test', 'new@dest.test'],
  )
  const messages = await deliver(t, sender, 2)
  assert.deepEqual([...messages].map(([to, { subject }]) => [to, subject]).sort(), [
    ['ada@dest.test', '[TEST] Hi Ada'],
    ['new@dest.test', '[TEST] Hi Ada'],
  ])
  const rows = await sender.core.store.read.select().from(contacts).all()
  const added = rows.find((row) => row.address === 'new@dest.test')
  assert.deepEqual([rows.length, added?.subscribed, added?.data], [2, false, null])
})

test('a test rendered as a contact shows its values, and acts for the address', async (t) => {
  const body = '<p>{{ name }} {{ email }} {{ id }} {{ subscribed }} {{ locale }}</p>'
  const { sender, send } = await open(t, { body })
  const [contactId = ''] = await addContacts(sender.core, sender.project.id, [
    { address: 'ada@dest.test', subscribed: true, data: { name: 'Ada', locale: 'de' } },
  ])
  const { emails } = await send(['boss@dest.test'], { contactId })
  const email = await sender.email(emails[0]?.id as string)
  assert.notEqual(email.contactId, contactId)
  const message = (await deliver(t, sender, 1)).get('boss@dest.test')
  assert.equal(message?.subject, '[TEST] Hi Ada')
  assert.ok(message?.octets.includes(`<p>Ada ada@dest.test ${contactId} true de</p>`))
  assert.equal(message?.source.footer?.language, 'de')
  const url = String(message?.source.variables.system.unsubscribeUrl)
  const token = url.slice(url.lastIndexOf('/') + 1)
  const page = readPageToken(sender.core.keyring.keys('page'), token)
  const digest = sender.core.keyring.addressDigest(sender.project.id, 'boss@dest.test')
  assert.deepEqual(page, { contactId: email.contactId, emailId: email.id, digest })
})

test('a suppressed address refuses the whole test', async (t) => {
  const { sender, send } = await open(t)
  await sender.core.store.write((tx) =>
    tx.insert(suppressions).values({
      ...{ id: newId(), projectId: sender.project.id, address: 'bad@dest.test' },
      ...{ reason: 'MANUAL', source: 'MANUAL', createdAt: 1 },
    }),
  )
  const before = await sender.counts()
  await assert.rejects(send(['ada@dest.test', 'bad@dest.test']), {
    code: 'BAD_REQUEST',
    message: 'bad@dest.test is suppressed: nothing was sent.',
  })
  assert.deepEqual(await sender.counts(), before)
})

test('a sender domain that is not verified refuses a test', async (t) => {
  const { sender, send } = await open(t, { fromDomain: 'other.test', fromAddress: 'a@other.test' })
  await assert.rejects(send(['ada@dest.test']), { code: 'FORBIDDEN' })
  assert.equal((await sender.counts()).emails, 0)
})

test('a subject of full length keeps its mark', async (t) => {
  const { sender, send } = await open(t, { subject: 'x'.repeat(998) })
  await send(['ada@dest.test'])
  const message = (await deliver(t, sender, 1)).get('ada@dest.test')
  assert.equal(message?.subject, `[TEST] ${'x'.repeat(991)}`)
})

test('an address without data of its own reads what the first contact of the audience reads', async (t) => {
  const { sender, send } = await open(t, {
    body: '<table><tr><td>Hallo {{ vorname }}</td></tr></table>',
  })
  await addContacts(sender.core, sender.project.id, [
    { address: 'gone@dest.test', subscribed: false, data: { vorname: 'Gone' } },
    { address: 'ada@dest.test', data: { vorname: 'Ada' } },
    { address: 'bob@dest.test', data: { vorname: 'Bob' } },
    { address: 'bare@dest.test' },
  ])
  const to = ['stranger@dest.test', 'bob@dest.test', 'bare@dest.test']
  const { emails } = await send(to)
  assert.deepEqual(
    emails.map(({ recipient }) => recipient),
    to,
  )
  const messages = await deliver(t, sender, 3)
  const greeted = to.map((each) => /Hallo (\w+)/.exec(messages.get(each)?.octets ?? '')?.[1])
  assert.deepEqual(greeted, ['Ada', 'Bob', 'Ada'])
  assert.equal(await sender.core.store.read.$count(contacts), 5)
})

test('without an audience that can be found, a stranger reads the text as it is', async (t) => {
  const fields = {
    audienceType: 'SEGMENT',
    segmentId: newId(),
    body: '<p>Hallo {{ name }}!</p>',
  } as const
  const { sender, send } = await open(t, fields)
  await send(['stranger@dest.test'])
  const messages = await deliver(t, sender, 1)
  assert.match(messages.get('stranger@dest.test')?.octets ?? '', /Hallo !/)
})
