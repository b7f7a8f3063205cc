import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listActivity } from '../../../src/features/activity/list.ts'
import { createDelivery } from '../../../src/features/messages/deliver.ts'
import { startQueue } from '../../../src/features/messages/queue.ts'
import { createTemplateCache, renderMessage } from '../../../src/mail/message.ts'
import { emails } from '../../../src/store/schema.ts'
import {
  addProject,
  attempted,
  type Desk,
  type OutcomeKind,
  openDesk,
  START,
} from '../messages/desk.ts'

/** Sends one email and lets it come to that end. */
async function send(desk: Desk, kind: OutcomeKind, request: Parameters<Desk['send']>[0] = {}) {
  const delivery = createDelivery(desk.core)
  const ended = Promise.withResolvers<void>()
  desk.core.outbound.deliver = ([task]) => {
    if (task === undefined) return
    delivery.report([attempted(task, kind)])
    void delivery.settled(5_000).then(ended.resolve)
  }
  const queue = startQueue(desk.core, delivery)
  const { emails } = await desk.send(request)
  await ended.promise
  await queue.stop()
  return emails[0]?.email as string
}

async function openFeed(t: Parameters<typeof openDesk>[0]) {
  const desk = await openDesk(t)
  const cache = createTemplateCache()
  desk.core.outbound.preview = async (sources) =>
    sources.map((source) => renderMessage(source, cache))
  return desk
}

test('an email is shown as its recipient got it, newest event first', async (t) => {
  const desk = await openFeed(t)
  const id = await send(desk, 'delivered', {
    subject: 'Hello {{ name }}',
    body: '<p>Dear {{ name }}</p>',
    data: { name: 'Ada' },
  })
  const { data, cursor, hasMore } = await listActivity(desk.core, desk.project.id, { limit: 50 })
  assert.deepEqual(
    data.map((each) => [each.id, each.type]),
    [
      [`${id}_delivered`, 'email.delivered'],
      [`${id}_sent`, 'email.sent'],
    ],
  )
  assert.equal(cursor, null)
  assert.equal(hasMore, false)
  assert.equal(data[0]?.contactEmail, 'ada@dest.test')
  assert.equal(data[0]?.timestamp, '2026-11-21T12:00:00.000Z')
  assert.equal(data[0]?.metadata.subject, 'Hello Ada')
  assert.match(data[0]?.metadata.body as string, /<p>Dear Ada<\/p>/)
})

test('later changes of the contact do not change what was sent', async (t) => {
  const desk = await openFeed(t)
  await send(desk, 'delivered', { subject: 'Hello {{ name }}', data: { name: 'Ada' } })
  await send(desk, 'delivered', { data: { name: 'Grace' } })
  const { data } = await listActivity(desk.core, desk.project.id, { limit: 50 })
  assert.deepEqual(
    data.map(({ metadata }) => metadata.subject),
    ['Hello', 'Hello', 'Hello Ada', 'Hello Ada'],
  )
})

test('a bounce says why, and a contact\u2019s unsubscribing is shown', async (t) => {
  const desk = await openFeed(t)
  await send(desk, 'hard', { subscribed: true })
  const { data } = await listActivity(desk.core, desk.project.id, { limit: 50 })
  assert.deepEqual(
    data.map(({ type }) => type),
    ['contact.unsubscribed', 'email.bounced'],
  )
  assert.match(data[1]?.metadata.error as string, /No such user/)
  assert.equal(data[1]?.metadata.bounceType, 'Permanent')
  assert.deepEqual(data[0]?.metadata, {
    eventName: 'contact.unsubscribed',
    eventData: { reason: 'bounce' },
  })
})

test('types, contact and dates narrow the feed, unknown types are ignored', async (t) => {
  const desk = await openFeed(t)
  await send(desk, 'delivered')
  const { id } = desk.project
  const typesOf = async (query: Partial<Parameters<typeof listActivity>[2]>) =>
    (await listActivity(desk.core, id, { limit: 50, ...query })).data.map(({ type }) => type)
  assert.deepEqual(await typesOf({ types: ['email.sent', 'nonsense'] }), ['email.sent'])
  assert.deepEqual(await typesOf({ types: ['nonsense'] }), [])
  assert.deepEqual(await typesOf({ types: ['event.triggered'] }), [])
  assert.deepEqual(await typesOf({ contactId: 'someone else' }), [])
  assert.deepEqual(await typesOf({ startAt: START + 1 }), [])
  assert.deepEqual(await typesOf({ endAt: START }), ['email.delivered', 'email.sent'])
})

test('pages follow the cursor without gap or repeat, a foreign cursor is refused', async (t) => {
  const desk = await openFeed(t)
  for (let index = 0; index < 3; index += 1) await send(desk, 'delivered')
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await listActivity(desk.core, desk.project.id, { limit: 2, cursor })
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  assert.equal(seen.length, 6)
  assert.equal(new Set(seen).size, 6)
  const query = { limit: 2, cursor: 'garbage' }
  await assert.rejects(listActivity(desk.core, desk.project.id, query), {
    code: 'VALIDATION_ERROR',
  })
})

test('what is older than thirty days is shown only when asked for', async (t) => {
  const desk = await openFeed(t)
  await send(desk, 'delivered')
  desk.clock.now += 31 * 86_400_000
  assert.deepEqual((await listActivity(desk.core, desk.project.id, { limit: 50 })).data, [])
  const all = await listActivity(desk.core, desk.project.id, { limit: 50, startAt: START })
  assert.equal(all.data.length, 2)
})

test('an end in the past without a start shows the thirty days before it', async (t) => {
  const desk = await openFeed(t)
  await send(desk, 'delivered')
  desk.clock.now += 60 * 86_400_000
  const listUntil = async (endAt: number) =>
    (await listActivity(desk.core, desk.project.id, { limit: 50, endAt })).data.length
  assert.equal(await listUntil(START + 29 * 86_400_000), 2)
  assert.equal(await listUntil(START + 31 * 86_400_000), 0)
})

test('an email is shown without its attachments being read', async (t) => {
  const desk = await openFeed(t)
  const file = { filename: 'a.pdf', contentType: 'application/pdf', contentId: null } as const
  await send(desk, 'delivered', {
    attachments: [{ ...file, content: 'aGk=', disposition: 'attachment' }],
  })
  const { preview } = desk.core.outbound
  const attached: number[] = []
  desk.core.outbound.preview = (sources) => {
    attached.push(...sources.map(({ content }) => content.attachments.length))
    return preview(sources)
  }
  const { data } = await listActivity(desk.core, desk.project.id, { limit: 50 })
  assert.match(data[0]?.metadata.body as string, /Hello/)
  assert.deepEqual(attached, [0])
})

test('an email whose data retention cleared is shown without a body, not half rendered', async (t) => {
  const desk = await openFeed(t)
  await send(desk, 'delivered', { subject: 'Hi {{ name }}', data: { name: 'Ada' } })
  await desk.core.store.write(async (tx) => {
    await tx.update(emails).set({ variables: null, headers: null })
  })
  const { data } = await listActivity(desk.core, desk.project.id, { limit: 50 })
  assert.equal(data[0]?.metadata.body, null)
})

test('S20: nothing of another project is shown', async (t) => {
  const desk = await openFeed(t)
  await send(desk, 'delivered')
  const other = await addProject(desk.core, 'Other', 'other.test')
  assert.deepEqual((await listActivity(desk.core, other.id, { limit: 50 })).data, [])
})
