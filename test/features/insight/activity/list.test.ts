import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendEvent, appendEvents } from '../../../../src/features/ground/events/append.ts'
import { listActivity as openListing } from '../../../../src/features/insight/activity/list.ts'
import { createDeliverer } from '../../../../src/features/mail/messages/delivery/deliverer.ts'
import { startQueue } from '../../../../src/features/mail/messages/queue/queue.ts'
import { appendCampaignEvent } from '../../../../src/features/outreach/campaigns/append-event.ts'
import { renderMessage } from '../../../../src/formats/compose/build-message.ts'
import { createTemplateCache } from '../../../../src/formats/precomposed/template-cache.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contents, emails } from '../../../../src/store/schema/messages.ts'
import { address, START } from '../../../core.ts'
import { testTracker } from '../../../formats/tracker.ts'
import { listActivity } from '../../../lists.ts'
import {
  addSenderProject,
  attempted,
  type OutcomeKind,
  openSender,
  type Sender,
} from '../../mail/messages/sender.ts'
import { addCampaign, giveToCampaign } from '../../outreach/campaigns/add-campaign.ts'

/** Sends one email with this outcome. */
async function send(
  sender: Sender,
  kind: OutcomeKind,
  request: Parameters<Sender['send']>[0] = {},
) {
  const delivery = createDeliverer(sender.core)
  const ended = Promise.withResolvers<void>()
  sender.core.outbound.deliver = ([task]) => {
    if (task === undefined) return
    delivery.finished([attempted(task, kind)])
    void delivery.settled(5_000).then(ended.resolve)
  }
  const queue = startQueue(sender.core, delivery)
  const { emails } = await sender.send(request)
  await ended.promise
  await queue.stop()
  return emails[0]?.email as string
}

async function openFeed(t: Parameters<typeof openSender>[0]) {
  const sender = await openSender(t)
  const cache = createTemplateCache(testTracker())
  sender.core.outbound.preview = async (sources) =>
    sources.map((source) => renderMessage(source, cache))
  return sender
}

test('the feed shows emails as delivered, newest event first', async (t) => {
  const sender = await openFeed(t)
  const id = await send(sender, 'delivered', {
    subject: 'Hello {{ name }}',
    body: '<p>Dear {{ name }}</p>',
    data: { name: 'Ada' },
  })
  const { data, cursor, hasMore } = await listActivity(sender.core, sender.project.id, {
    limit: 50,
  })
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

test('an email shows the faults of its template, if there are any', async (t) => {
  const sender = await openFeed(t)
  const id = await send(sender, 'delivered')
  const metadata = async () =>
    (await listActivity(sender.core, sender.project.id, { limit: 1 })).data[0]?.metadata ?? {}
  assert.ok(!('templateFaults' in (await metadata())))
  const fault = { part: 'body', line: 1, column: 4, message: 'undefined filter: shout' } as const
  await sender.core.store.write((tx) =>
    tx
      .update(emails)
      .set({ templateFaults: [fault] })
      .where(eq(emails.id, id)),
  )
  assert.deepEqual((await metadata()).templateFaults, [fault])
})

test('an email that cannot be rendered is shown without its body, and all others with it', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered', { subject: 'One' })
  await send(sender, 'delivered', { subject: 'Two' })
  const { preview } = sender.core.outbound
  sender.core.outbound.preview = async (sources) =>
    (await preview(sources)).map((message) => (message?.subject === 'One' ? null : message))
  const query = { limit: 50, types: ['email.sent'] }
  const { data } = await listActivity(sender.core, sender.project.id, query)
  const shown = data.map(({ metadata }) => [metadata.subject, metadata.body !== null])
  assert.deepEqual(shown.toSorted(), [
    ['Two', true],
    ['rendered', false],
  ])
})

test('later changes of the contact do not change the shown email', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered', { subject: 'Hello {{ name }}', data: { name: 'Ada' } })
  await send(sender, 'delivered', { data: { name: 'Grace' } })
  const { data } = await listActivity(sender.core, sender.project.id, { limit: 50 })
  assert.deepEqual(
    data.map(({ metadata }) => metadata.subject),
    ['Hello', 'Hello', 'Hello Ada', 'Hello Ada'],
  )
})

test('a bounce has its reason, and unsubscribing is shown', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'hard', { subscribed: true })
  const { data } = await listActivity(sender.core, sender.project.id, { limit: 50 })
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
  const sender = await openFeed(t)
  await send(sender, 'delivered')
  const { id } = sender.project
  const typesOf = async (query: Partial<Parameters<typeof listActivity>[2]>) =>
    (await listActivity(sender.core, id, { limit: 50, ...query })).data.map(({ type }) => type)
  assert.deepEqual(await typesOf({ types: ['email.sent', 'nonsense'] }), ['email.sent'])
  assert.deepEqual(await typesOf({ types: ['nonsense'] }), [])
  assert.deepEqual(await typesOf({ types: ['event.triggered'] }), [])
  assert.deepEqual(await typesOf({ contactId: 'someone else' }), [])
  assert.deepEqual(await typesOf({ startAt: START + 1 }), [])
  assert.deepEqual(await typesOf({ endAt: START }), ['email.delivered', 'email.sent'])
})

test('pages by cursor have no gap and no repetition, and an unknown cursor is refused', async (t) => {
  const sender = await openFeed(t)
  for (let index = 0; index < 3; index += 1) await send(sender, 'delivered')
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await listActivity(sender.core, sender.project.id, { limit: 2, cursor })
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  assert.equal(seen.length, 6)
  assert.equal(new Set(seen).size, 6)
  const query = { limit: 2, cursor: 'garbage' }
  await assert.rejects(listActivity(sender.core, sender.project.id, query), {
    code: 'VALIDATION_ERROR',
  })
})

test('activity older than thirty days is shown only on request', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered')
  sender.clock.now += 31 * 86_400_000
  assert.deepEqual((await listActivity(sender.core, sender.project.id, { limit: 50 })).data, [])
  const all = await listActivity(sender.core, sender.project.id, { limit: 50, startAt: START })
  assert.equal(all.data.length, 2)
})

test('an end in the past without a start shows the thirty days before it', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered')
  sender.clock.now += 60 * 86_400_000
  const listUntil = async (endAt: number) =>
    (await listActivity(sender.core, sender.project.id, { limit: 50, endAt })).data.length
  assert.equal(await listUntil(START + 29 * 86_400_000), 2)
  assert.equal(await listUntil(START + 31 * 86_400_000), 0)
})

test('an email is shown without its attachments being read', async (t) => {
  const sender = await openFeed(t)
  const file = { filename: 'a.pdf', contentType: 'application/pdf', contentId: null } as const
  await send(sender, 'delivered', {
    attachments: [{ ...file, content: 'aGk=', disposition: 'attachment' }],
  })
  const { preview } = sender.core.outbound
  const attached: number[] = []
  sender.core.outbound.preview = (sources) => {
    attached.push(...sources.map(({ content }) => content.attachments.length))
    return preview(sources)
  }
  const { data } = await listActivity(sender.core, sender.project.id, { limit: 50 })
  assert.match(data[0]?.metadata.body as string, /Hello/)
  assert.deepEqual(attached, [0])
})

test('S29: one rendered text is in memory beside those of the page, which ends when they are long', async (t) => {
  const sender = await openFeed(t)
  for (let count = 0; count < 6; count += 1) await send(sender, 'delivered')
  const { preview } = sender.core.outbound
  let rendered = 0
  sender.core.outbound.preview = async (sources) => {
    assert.equal(sources.length, 1)
    rendered += 1
    const messages = await preview(sources)
    return messages.map((message) => message && { ...message, html: 'x'.repeat(900_000) })
  }
  const walk = (await openListing(sender.core, sender.project.id, { limit: 50 })).walk()
  await walk.next()
  assert.equal(rendered, 3)
  await walk.return(undefined as never)
})

test('a summary has no bodies, and nothing is rendered for it', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered', { subject: 'Hello {{ name }}', data: { name: 'Ada' } })
  sender.core.outbound.preview = () => assert.fail('nothing is to be rendered')
  const query = { limit: 50, isSummary: true }
  const { data } = await listActivity(sender.core, sender.project.id, query)
  assert.equal(data.length, 2)
  for (const { metadata } of data) {
    assert.equal('body' in metadata, false)
    assert.equal(typeof metadata.subject, 'string')
  }
})

test('an email whose data retention has cleared is shown without a body', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered', { subject: 'Hi {{ name }}', data: { name: 'Ada' } })
  await sender.core.store.write(async (tx) => {
    await tx.update(emails).set({ variables: null, headers: null })
  })
  const { data } = await listActivity(sender.core, sender.project.id, { limit: 50 })
  assert.equal(data[0]?.metadata.body, null)
})

test('activity of other projects is not shown', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered')
  const other = await addSenderProject(sender.core, 'Other', 'other.test')
  assert.deepEqual((await listActivity(sender.core, other.id, { limit: 50 })).data, [])
})

/** Appends an event of an email, like tracking and later reports do. */
async function addEvent(
  sender: Sender,
  emailId: string,
  event: { name: string; data?: Record<string, unknown>; at?: number },
) {
  const { contactId } = await sender.email(emailId)
  const { name, data = null, at = sender.clock.now } = event
  await sender.core.store.write((tx) =>
    appendEvent(tx, { projectId: sender.project.id, name, contactId, emailId, data, at }),
  )
}

test('events of emails show the base data of the email and their own data', async (t) => {
  const sender = await openFeed(t)
  const id = await send(sender, 'delivered', {
    subject: 'Hello {{ name }}',
    data: { name: 'Ada' },
    from: { address: address('shop@example.test'), name: 'Shop' },
  })
  const first = { openedAt: '2026-11-21T12:00:01.000Z' }
  await sender.core.store.write(async (tx) => {
    await tx.update(emails).set({ openedAt: START + 1000 })
  })
  await addEvent(sender, id, { name: 'email.open', data: { opens: 1, isFirstOpen: true } })
  await addEvent(sender, id, {
    name: 'email.click',
    data: { link: 'https://shop.test/', clicks: 1, isFirstClick: true },
  })
  const { data } = await listActivity(sender.core, sender.project.id, { limit: 50 })
  const { messageId } = await sender.email(id)
  const [click, open, delivered, sent] = data
  assert.deepEqual(open?.metadata, {
    emailId: id,
    messageId,
    templateId: null,
    campaignId: null,
    sourceType: 'TRANSACTIONAL',
    subject: 'Hello Ada',
    body: open?.metadata.body,
    from: 'shop@example.test',
    fromName: 'Shop',
    replyTo: null,
    toName: null,
    campaignName: null,
    workflowName: null,
    status: 'DELIVERED',
    reason: 'It was delivered at 2026-11-21 12:00:00Z: mx.dest.test accepted it with 250 2.0.0 Ok.',
    reasonCode: 'delivered',
    reasonData: {
      at: '2026-11-21T12:00:00.000Z',
      host: 'mx.dest.test',
      reply: { code: 250, enhancedCode: '2.0.0', text: 'Ok' },
      complainedAt: null,
    },
    opens: 1,
    isFirstOpen: true,
    ...first,
  })
  assert.deepEqual(
    [click?.type, click?.metadata.link, click?.metadata.clicks, click?.metadata.messageId],
    ['email.clicked', 'https://shop.test/', 1, messageId],
  )
  assert.equal(delivered?.metadata.deliveredAt, '2026-11-21T12:00:00.000Z')
  assert.equal(sent?.metadata.sentAt, '2026-11-21T12:00:00.000Z')
  assert.equal('error' in (open?.metadata ?? {}), false)
})

test('campaigns have types of their own, and their emails name them', async (t) => {
  const sender = await openFeed(t)
  const { core, project } = sender
  const campaignId = await addCampaign(core, { projectId: project.id, name: 'Spring' })
  const id = await send(sender, 'delivered')
  await giveToCampaign(core, id, { campaignId })
  const campaign = { id: campaignId, projectId: project.id, name: 'Spring' }
  await core.store.write((tx) =>
    appendCampaignEvent(tx, 'campaign.sent', {
      campaign,
      data: { totalRecipients: 1 },
      at: core.now(),
    }),
  )
  const { data } = await listActivity(core, project.id, { limit: 50 })
  assert.deepEqual(
    data.map(({ type, metadata }) => [type, metadata.campaignName]),
    [
      ['campaign.sent', 'Spring'],
      ['email.delivered', 'Spring'],
      ['email.sent', 'Spring'],
    ],
  )
  assert.deepEqual(data[0]?.metadata, { campaignId, campaignName: 'Spring', totalRecipients: 1 })
  const types = ['campaign.sent']
  assert.equal((await listActivity(core, project.id, { limit: 50, types })).data.length, 1)
})

test('a repeated activity of an email has an id of its own', async (t) => {
  const sender = await openFeed(t)
  const id = await send(sender, 'delivered')
  const late = { bounceType: 'Transient', transientBounce: true }
  await addEvent(sender, id, { name: 'email.open', data: { opens: 1, isFirstOpen: true } })
  await addEvent(sender, id, { name: 'email.open', data: { opens: 2, isFirstOpen: false } })
  await addEvent(sender, id, { name: 'email.open', data: { opens: 3, isFirstOpen: false } })
  await addEvent(sender, id, { name: 'email.click', data: { clicks: 1, isFirstClick: true } })
  await addEvent(sender, id, { name: 'email.click', data: { clicks: 2, isFirstClick: false } })
  await addEvent(sender, id, { name: 'email.bounce', data: late })
  await addEvent(sender, id, { name: 'email.bounce', data: { bounceType: 'Permanent' } })
  await addEvent(sender, id, { name: 'email.complaint' })
  const { data } = await listActivity(sender.core, sender.project.id, { limit: 50 })
  const ids = data.map((each) => each.id)
  assert.equal(new Set(ids).size, 10)
  const plain = ids.filter((each) => each.split('_').length === 2)
  assert.deepEqual(
    plain.sort(),
    ['bounced', 'clicked', 'complaint', 'delivered', 'opened', 'sent'].map((end) => `${id}_${end}`),
  )
  assert.ok(ids.every((each) => each.startsWith(`${id}_`)))
})

test('a late bounce, a delay and a complaint are shown with their kind and error', async (t) => {
  const sender = await openFeed(t)
  const id = await send(sender, 'delivered')
  const said = '550 5.1.1 no such user'
  await sender.core.store.write(async (tx) => {
    await tx.update(emails).set({ error: said, bouncedAt: START, complainedAt: START + 1 })
  })
  const delay = { bounceType: 'Transient', transientBounce: true }
  await addEvent(sender, id, { name: 'email.bounce', data: delay })
  await addEvent(sender, id, { name: 'email.bounce', data: { bounceType: 'Permanent' } })
  await addEvent(sender, id, { name: 'email.complaint', data: { feedbackType: 'abuse' } })
  const { data } = await listActivity(sender.core, sender.project.id, {
    limit: 3,
    types: ['email.bounced', 'email.complaint'],
  })
  const [complaint, bounce, delayed] = data.map(({ metadata }) => metadata)
  assert.deepEqual(
    [complaint?.error, complaint?.feedbackType, complaint?.complainedAt],
    [said, 'abuse', '2026-11-21T12:00:00.001Z'],
  )
  assert.deepEqual(
    [bounce?.error, bounce?.bounceType, bounce?.bouncedAt],
    [said, 'Permanent', '2026-11-21T12:00:00.000Z'],
  )
  assert.deepEqual(
    [delayed?.bounceType, delayed?.transientBounce, delayed?.bouncedAt],
    ['Transient', true, undefined],
  )
})

test('received mail is shown as stored and never rendered as a template', async (t) => {
  const sender = await openFeed(t)
  const id = await send(sender, 'delivered')
  const sent = await sender.email(id)
  const hostile = '<p>{{ email }} {% for i in (1..9) %}x{% endfor %}</p>'
  const inboundId = newId()
  await sender.core.store.write(async (tx) => {
    const contentId = newId()
    await tx.insert(contents).values({
      id: contentId,
      projectId: sender.project.id,
      subject: 'Re: {{ email }}',
      body: hostile,
      lastUsedAt: START,
      createdAt: START,
    })
    await tx.insert(emails).values({
      ...sent,
      id: inboundId,
      contentId,
      sourceType: 'INBOUND',
      subject: 'Re: {{ email }}',
      fromAddress: 'info@example.test',
      messageId: 'theirs@dest.test',
      variables: null,
      state: 'received',
      status: 'RECEIVED',
    })
  })
  const data = { from: 'ada@dest.test', spfVerdict: 'PASS', hasContent: true, body: 'other' }
  await addEvent(sender, inboundId, { name: 'email.received', data })
  const page = await listActivity(sender.core, sender.project.id, {
    limit: 1,
    types: ['email.received'],
  })
  const [received] = page.data
  assert.equal(received?.id, `${inboundId}_received`)
  assert.equal(received?.contactEmail, 'ada@dest.test')
  const { subject, body, from, sourceType, messageId, spfVerdict } = received?.metadata ?? {}
  assert.deepEqual(
    { subject, body, from, sourceType, messageId, spfVerdict },
    {
      subject: 'Re: {{ email }}',
      body: hostile,
      from: 'info@example.test',
      sourceType: 'INBOUND',
      messageId: 'theirs@dest.test',
      spfVerdict: 'PASS',
    },
  )
})

test('pages through many events of one instant show each event once', async (t) => {
  const sender = await openFeed(t)
  const row = { projectId: sender.project.id, contactId: null, emailId: null, data: null }
  await sender.core.store.write((tx) =>
    appendEvents(
      tx,
      Array.from({ length: 25 }, (_, index) => ({ ...row, name: `event ${index}`, at: START })),
    ),
  )
  const seen: unknown[] = []
  let cursor: string | undefined
  do {
    const page = await listActivity(sender.core, sender.project.id, { limit: 4, cursor })
    seen.push(...page.data.map(({ metadata }) => metadata.eventName))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  assert.deepEqual(
    seen,
    Array.from({ length: 25 }, (_, index) => `event ${24 - index}`),
  )
})

test('a page of large emails ends early, and all pages together show every email', async (t) => {
  const sender = await openFeed(t)
  const [loop, text] = ['{% for i in (1..2300) %}{{ text }}{% endfor %}', 'x'.repeat(1_000)]
  for (let index = 0; index < 2; index += 1) {
    await send(sender, 'delivered', { body: `${index}${'x'.repeat(2.2 * 1024 * 1024)}` })
    await send(sender, 'delivered', { body: `${index}${loop}`, data: { text } })
  }
  const pages: { bytes: number; items: number }[] = []
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await listActivity(sender.core, sender.project.id, { limit: 100, cursor })
    pages.push({ bytes: JSON.stringify(page).length, items: page.data.length })
    seen.push(...page.data.map(({ id }) => id))
    assert.equal(page.hasMore, page.cursor !== null)
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  assert.deepEqual([seen.length, new Set(seen).size], [8, 8])
  assert.ok(pages.every(({ bytes, items }) => items === 1 || bytes < 2.1 * 1024 * 1024))
})

test('the shown body has no tracking, so viewing it is not an open', async (t) => {
  const sender = await openFeed(t)
  await send(sender, 'delivered', {
    body: '<p><a href="https://shop.test/">Shop</a></p>',
    tracking: true,
  })
  const { data } = await listActivity(sender.core, sender.project.id, { limit: 1 })
  const body = data[0]?.metadata.body as string
  assert.match(body, /href="https:\/\/shop\.test\/"/)
  assert.doesNotMatch(body, /\/t\/[oc]\//)
})

test('a failure has the code of its own reason, also once the email was tried again', async (t) => {
  const sender = await openFeed(t)
  const id = await send(sender, 'delivered')
  const data = { error: 'the contact has unsubscribed', reason: 'refused' }
  await addEvent(sender, id, { name: 'email.failed', data })
  const query = { limit: 50, types: ['email.failed'] }
  const { data: found } = await listActivity(sender.core, sender.project.id, query)
  const { reason, reasonCode, reasonData } = Object(found[0]?.metadata)
  assert.deepEqual([reason, reasonCode], ['refused', 'refused'])
  assert.deepEqual(reasonData, { refusal: 'unsubscribed', obstacle: null, cutOff: null })
})
