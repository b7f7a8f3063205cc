import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takeDeliveries } from '../../../../src/features/outreach/webhooks/sending/endpoint-tasks.ts'
import {
  readContent,
  readEvents,
} from '../../../../src/features/outreach/webhooks/sending/event-rows.ts'
import { eventPayload } from '../../../../src/features/outreach/webhooks/sending/payload.ts'
import { desc, eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { contents, emails } from '../../../../src/store/schema/messages.ts'
import { addRecipient } from '../../people/contacts/add-recipient.ts'
import { openStage, type WebhookStage } from './harness.ts'

async function payloadOf({ core }: WebhookStage) {
  const [row] = await core.store.read.select().from(events).orderBy(desc(events.seq)).limit(1)
  const sent = (await readEvents(core, [row!.seq])).get(row!.seq)
  const text = eventPayload(await readContent(core, sent!))
  return { text, payload: JSON.parse(text), row: row! }
}

test('an event of an email shows the base data, the contact, and never the body', async (t) => {
  const stage = await openStage(t)
  const { projectId, core } = stage
  const person = { projectId, email: 'ada@people.test', data: { plan: 'pro' } }
  const { contactId, emailId } = await addRecipient(core, person)
  await stage.append({ name: 'email.click', contactId, emailId, data: { link: 'https://a.test' } })
  const { payload, text, row } = await payloadOf(stage)
  const [email] = await core.store.read.select().from(emails).where(eq(emails.id, emailId))
  assert.deepEqual(payload, {
    type: 'email.click',
    timestamp: new Date(row.createdAt).toISOString(),
    data: {
      ...{ id: row.id, name: 'email.click', projectId, contactId, emailId },
      createdAt: new Date(row.createdAt).toISOString(),
      data: {
        ...{ subject: email?.subject, from: email?.fromAddress, fromName: email?.fromName },
        ...{ messageId: email?.messageId, emailId, templateId: null, campaignId: null },
        ...{ sourceType: email?.sourceType, clickedAt: null, link: 'https://a.test' },
      },
      contact: { id: contactId, email: 'ada@people.test', subscribed: true, data: { plan: 'pro' } },
    },
  })
  assert.ok(!text.includes('"body"'))
})

test('received mail carries its stored body, up to 256 KB', async (t) => {
  const stage = await openStage(t)
  const { projectId, core } = stage
  const { contactId, emailId } = await addRecipient(core, { projectId })
  const contentId = newId()
  const write = (body: string) =>
    core.store.write(async (tx) => {
      await tx.delete(contents).where(eq(contents.id, contentId))
      const own = { id: contentId, projectId, subject: 'Hi', body, isText: false, text: 'Hi' }
      await tx.insert(contents).values({ ...own, createdAt: 1, lastUsedAt: 1 } as never)
      await tx.update(emails).set({ contentId }).where(eq(emails.id, emailId))
    })
  await write('<p>Hi</p>')
  await stage.append({ name: 'email.received', contactId, emailId, data: { to: 'us' } })
  const { payload } = await payloadOf(stage)
  assert.deepEqual(
    [payload.data.data.body, payload.data.data.text, payload.data.isBodyTruncated],
    ['<p>Hi</p>', 'Hi', undefined],
  )
  await write('ü'.repeat(200_000))
  const long = (await payloadOf(stage)).payload
  assert.equal(Buffer.byteLength(long.data.data.body), 256 * 1024)
  assert.equal(long.data.isBodyTruncated, true)
})

test('the body of received mail is read when it is sent, not while it waits', async (t) => {
  const stage = await openStage(t)
  const { projectId, core } = stage
  await stage.sender.stop(0)
  const { id } = await stage.addEndpoint('http://127.0.0.1:9/')
  const { contactId, emailId } = await addRecipient(core, { projectId })
  const contentId = newId()
  await core.store.write(async (tx) => {
    const body = 'secret '.repeat(20_000)
    const own = { id: contentId, projectId, subject: 'Hi', body, isText: false, text: body }
    await tx.insert(contents).values({ ...own, createdAt: 1, lastUsedAt: 1 } as never)
    await tx.update(emails).set({ contentId }).where(eq(emails.id, emailId))
  })
  await stage.append(
    ...Array.from({ length: 20 }, () => ({ name: 'email.received', contactId, emailId })),
  )
  const query = { taken: new Set<number>(), limit: 20, now: core.now() }
  const { tasks } = await takeDeliveries(core, { id: id, projectId }, query)
  assert.equal(tasks.length, 20)
  assert.ok(!JSON.stringify(tasks).includes('secret'))
})

test('an event of a deleted contact has none; the data of a client is as it was given', async (t) => {
  const stage = await openStage(t)
  await stage.append({ contactId: newId(), data: ['any', { json: true }] })
  const { payload } = await payloadOf(stage)
  assert.deepEqual([payload.data.contact, payload.data.data], [null, ['any', { json: true }]])
})
