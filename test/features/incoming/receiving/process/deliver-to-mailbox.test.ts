import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listInboundMessages } from '../../../../../src/features/incoming/receiving/inbound-messages.ts'
import type { MessageReader } from '../../../../../src/features/incoming/receiving/process/parsed-message.ts'
import { deleteExpiredContent } from '../../../../../src/features/mail/messages/retention.ts'
import { resetProject } from '../../../../../src/features/operation/erasure/end-project.ts'
import { createReturnPathLocalPart } from '../../../../../src/formats/signed-tokens.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { usageMonths } from '../../../../../src/store/schema/billing.ts'
import { contents, type Email, emails } from '../../../../../src/store/schema/messages.ts'
import { listActivity, listEvents } from '../../../../lists.ts'
import { addSenderProject } from '../../../mail/messages/sender.ts'
import { buildDsn, buildMessage, openReceiver, type Receiver, shareReader } from '../receiver.ts'

const shared = shareReader()
const bob = 'bob@people.test'

const contentOf = async ({ core }: Receiver, { contentId }: Email) => {
  const row = await core.store.read.select().from(contents).where(eq(contents.id, contentId)).get()
  return row === undefined ? undefined : { body: row.body, isText: row.isText }
}

test('a reply becomes an email of the project, linked to its sender and to the email it answers', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const { messageId } = await receiver.email(id)
  const raw = buildMessage({
    ...{ 'Message-ID': '<reply-1@people.test>', 'In-Reply-To': `<${messageId}>` },
    ...{ 'Reply-To': 'Bob <bob+r@people.test>', To: 'help@example.test' },
  })
  const row = await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  const email = await receiver.latestEmail()
  assert.deepEqual(row.summary?.acts, [{ did: 'received', emailId: email.id }])
  assert.equal(row.kind, 'mail')
  assert.equal(row.sender, 'Bob <bob@people.test>')
  assert.notEqual(row.raw, null)
  const contact = await receiver.contact(bob)
  assert.equal(contact?.subscribed, false)
  const { sourceType, state, status, fromAddress, recipient, toName, replyTo, dueAt } = email
  assert.deepEqual(
    { sourceType, state, status, fromAddress, recipient, toName, replyTo, dueAt },
    {
      ...{ sourceType: 'INBOUND', state: 'received', status: 'RECEIVED', dueAt: null },
      ...{ fromAddress: 'help@example.test', recipient: bob, toName: 'Bob' },
      replyTo: 'bob+r@people.test',
    },
  )
  assert.equal(email.contactId, contact?.id)
  assert.equal(email.answeredEmailId, id)
  assert.equal(email.messageId, 'reply-1@people.test')
  assert.equal(email.deliveredAt, row.receivedAt)
  assert.deepEqual(await contentOf(receiver, email), { body: 'Hello', isText: true })
  const [event, ...others] = await receiver.listEvents()
  assert.equal(others.length, 0)
  const { processingTimeMillis, ...data } = event?.data ?? {}
  assert.equal(typeof processingTimeMillis, 'number')
  assert.deepEqual(data, {
    messageId: 'reply-1@people.test',
    from: bob,
    fromHeader: 'Bob <bob@people.test>',
    to: 'help@example.test',
    subject: 'Question',
    timestamp: new Date(row.receivedAt).toISOString(),
    recipients: ['help@example.test'],
    hasContent: true,
    ...{ spamVerdict: 'DISABLED', virusVerdict: 'DISABLED' },
    ...{ spfVerdict: 'GRAY', dkimVerdict: 'GRAY', dmarcVerdict: 'GRAY' },
    attachments: [],
    ...{ automatic: false, autoReply: false },
    inReplyTo: id,
  })
})

test('received mail counts in its month, also over a limit', async (t) => {
  const receiver = await openReceiver(t, shared)
  const { core } = receiver
  await core.store.write((tx) => tx.update(projects).set({ limitInbound: 1 }).run())
  for (let count = 0; count < 3; count += 1) {
    const raw = buildMessage({ 'Message-ID': `<n${count}@people.test>` })
    await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  }
  assert.equal(await core.store.read.$count(emails, eq(emails.sourceType, 'INBOUND')), 3)
  const [month] = await core.store.read.select().from(usageMonths)
  assert.deepEqual([month?.inbound, month?.transactional], [3, 0])
})

test('a known sender keeps its state', async (t) => {
  const receiver = await openReceiver(t, shared)
  await receiver.deliver()
  await receiver.subscribe()
  const before = await receiver.contact('ada@dest.test')
  const raw = buildMessage({ From: 'Ada <ADA@dest.test>' })
  await receiver.receive({ to: [receiver.mailbox()], raw, from: 'ada@dest.test' })
  assert.deepEqual(await receiver.contact('ada@dest.test'), before)
  assert.equal((await receiver.latestEmail()).contactId, before?.id)
  assert.deepEqual(
    (await receiver.listEvents()).map(({ name }) => name),
    ['email.received'],
  )
})

test('References and ids chosen by clients identify the answered email, in the same project only', async (t) => {
  const receiver = await openReceiver(t, shared)
  const other = await addSenderProject(receiver.core, 'Other', 'other.test')
  const own = await receiver.deliver()
  const custom = await receiver.deliver({ messageId: 'order-7@shop.test' })
  const relayed = await receiver.deliver({ providerId: '0100018f-ses' })
  const { messageId } = await receiver.email(own)
  const cases: [Record<string, string>, string | null][] = [
    [{ References: `<a@b.test> <${messageId}> <c@d.test>` }, own],
    [{ 'In-Reply-To': '<order-7@shop.test>' }, custom],
    [{ 'In-Reply-To': '<0100018f-ses@email.amazonses.com>' }, relayed],
    [{ 'In-Reply-To': `<${own}@elsewhere.test>` }, null],
    [{ 'In-Reply-To': '<' }, null],
  ]
  for (const [fields, expected] of cases) {
    await receiver.receive({ to: [receiver.mailbox()], raw: buildMessage(fields), from: bob })
    assert.equal((await receiver.latestEmail()).answeredEmailId, expected, JSON.stringify(fields))
  }
  const to = [receiver.mailbox('help@other.test', other.id)]
  await receiver.receive({ to, raw: buildMessage({ 'In-Reply-To': `<${messageId}>` }), from: bob })
  const unrelated = await receiver.latestEmail()
  assert.equal(unrelated.projectId, other.id)
  assert.equal(unrelated.answeredEmailId, null)
})

test('a message to mailboxes of two projects is an email in each, without data of the other', async (t) => {
  const receiver = await openReceiver(t, shared)
  const other = await addSenderProject(receiver.core, 'Other', 'other.test')
  const to = [
    receiver.mailbox('help@example.test'),
    receiver.mailbox('sales@example.test'),
    receiver.mailbox('info@other.test', other.id),
  ]
  await receiver.receive({ to, raw: buildMessage({}), from: bob })
  const rows = await receiver.core.store.read.select().from(emails).all()
  assert.deepEqual(
    rows.map(({ projectId, fromAddress }) => [projectId, fromAddress]),
    [
      [receiver.project.id, 'help@example.test'],
      [other.id, 'info@other.test'],
    ],
  )
  const raised = await receiver.listEvents()
  assert.deepEqual(
    raised.map(({ data }) => data?.recipients),
    [['help@example.test', 'sales@example.test'], ['info@other.test']],
  )
})

test('HTML is stored without scripts, hidden text and links to the hosted pages', async (t) => {
  const receiver = await openReceiver(t, shared)
  const html = `<html><head><title>t</title><style>p{display:none}</style></head><body onload=x()>
    <p style="display:none" class=a id=b onclick="x()">Hello <b>you</b></p><script>alert(1)</script>
    <a href="https://ok.test/?a=1">ok</a><a href="javascript:alert(1)">js</a><a href="/admin">rel</a>
    <a href="//evil.test">pr</a><a href="mailto:a@b.test">mail</a><a href="java&#9;script:x">tab</a>
    <img src="https://ok.test/p.png" onerror="x()"><img src="cid:1"><img src="data:image/svg+xml,x">
    <form action="https://evil.test"><input name=a><button>go</button></form><iframe src=x></iframe>
    <svg><script>1</script></svg><object data=x></object><base href="https://evil.test">
    <meta http-equiv=refresh content="0;url=x"><math><mi xlink:href="data:x">m</mi></math></body>`
  const raw = buildMessage({ 'Content-Type': 'text/html; charset=utf-8' }, html)
  await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  const content = await contentOf(receiver, await receiver.latestEmail())
  assert.equal(content?.isText, false)
  const body = content?.body ?? ''
  assert.match(body, /<p>Hello <b>you<\/b><\/p>/)
  assert.match(body, /<a href="https:\/\/ok\.test\/\?a=1">ok<\/a><a>js<\/a><a>rel<\/a>/)
  assert.match(body, /<a>pr<\/a><a href="mailto:a@b\.test">mail<\/a><a>tab<\/a>/)
  assert.match(body, /<img src="https:\/\/ok\.test\/p\.png" \/><img \/><img \/>/)
  const forbidden =
    /script|style|\son\w+=|form|input|button|iframe|svg|object|base|meta|data:|evil/i
  assert.doesNotMatch(body, forbidden)
})

test('received text is stored unchanged and never rendered as a template', async (t) => {
  const receiver = await openReceiver(t, shared)
  const subject = '{{ email }} {% for x in (1..9) %}'
  const raw = buildMessage({ Subject: subject }, '{{ unsubscribeUrl }} {% raw')
  await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  const outbound = { preview: async () => [] } as unknown as typeof receiver.core.outbound
  const { data } = await listActivity({ ...receiver.core, outbound }, receiver.project.id, {
    limit: 10,
  })
  const [shown] = data
  assert.equal(shown?.type, 'email.received')
  assert.equal(shown?.metadata.subject, subject)
  assert.equal(shown?.metadata.body, '{{ unsubscribeUrl }} {% raw')
})

test('attachments are listed with their names, types and sizes', async (t) => {
  const receiver = await openReceiver(t, shared)
  const raw = buildMessage(
    { 'Content-Type': 'multipart/mixed; boundary=b' },
    [
      ...['--b', 'Content-Type: text/plain', '', 'see there', ''],
      ...['--b', 'Content-Type: application/PDF; name="a\u0001.pdf"'],
      ...['Content-Disposition: attachment; filename="in/voice.pdf"'],
      ...['Content-Transfer-Encoding: base64', '', Buffer.alloc(100).toString('base64')],
      ...['--b', 'Content-Type: image/png', 'Content-ID: <pic>', 'Content-Disposition: inline'],
      ...['', 'x', '--b--'],
    ].join('\r\n'),
  )
  await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  const [event] = await receiver.listEvents()
  assert.deepEqual(event?.data?.attachments, [
    {
      ...{ filename: 'in/voice.pdf', contentType: 'application/pdf', sizeBytes: 100 },
      ...{ contentId: null, isInline: false },
    },
    {
      ...{ filename: null, contentType: 'image/png', sizeBytes: 1 },
      ...{ contentId: 'pic', isInline: true },
    },
  ])
  assert.equal((await contentOf(receiver, await receiver.latestEmail()))?.body, 'see there')
})

test('S11: an automatic reply to a mailbox is stored and marked', async (t) => {
  const receiver = await openReceiver(t, shared)
  const raw = buildMessage({ 'Auto-Submitted': 'auto-replied', Subject: 'Out of office' })
  const row = await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  assert.equal(row.kind, 'auto-reply')
  const [event] = await receiver.listEvents()
  assert.equal(event?.name, 'email.received')
  const { automatic, automaticReason, autoReply } = event?.data ?? {}
  assert.deepEqual([automatic, automaticReason, autoReply], [true, 'auto-reply', true])
  assert.deepEqual(row.summary?.automatic, 'auto-reply')
})

const QUESTIONS: Record<string, { From: string; Subject: string; words: string }> = {
  'a question of a person': { From: bob, Subject: 'Fwd: what is this?', words: 'Why?' },
  'a question from admin@': {
    From: 'admin@firm.test',
    Subject: 'Delivery failure',
    words: 'My message to ada@dest.test could not be delivered.',
  },
  'a complaint of a person': {
    From: bob,
    Subject: 'Abuse complaint: our customer got this',
    words: 'See below.',
  },
}

for (const [name, { words, ...fields }] of Object.entries(QUESTIONS)) {
  test(`${name} with the bounce attached is mail of the person`, async (t) => {
    const receiver = await openReceiver(t, shared)
    const emailId = await receiver.deliver()
    const dsn = buildDsn({ returned: [`Return-Path: <${receiver.returnPath(emailId).address}>`] })
    const raw = buildMessage(
      { ...fields, 'Content-Type': 'multipart/mixed; boundary="outer"' },
      `--outer\r\n\r\n${words}\r\n--outer\r\nContent-Type: message/rfc822\r\n\r\n${dsn}\r\n--outer--`,
    )
    const row = await receiver.receive({ to: [receiver.mailbox()], raw, from: fields.From })
    assert.equal(row.kind, 'mail')
    assert.deepEqual(await receiver.list(), [])
    assert.deepEqual(
      (await receiver.listEvents()).map(({ name, data }) => [name, data?.automatic]),
      [['email.received', false]],
    )
    assert.equal((await receiver.email(emailId)).status, 'DELIVERED')
  })
}

test('S12: mail of this server that returns to a mailbox is stored and raises no event', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const token = createReturnPathLocalPart(receiver.core.keyring.keys('return-path')[0], id).slice(2)
  const raw = buildMessage({ 'X-Pillarbox-Id': token })
  const row = await receiver.receive({ to: [receiver.mailbox()], raw, from: 'shop@example.test' })
  assert.deepEqual(row.summary?.acts, [{ did: 'ignored', why: 'mail of this project came back' }])
  assert.notEqual(row.raw, null)
  assert.deepEqual(await receiver.listEvents(), [])
  assert.equal((await receiver.counts()).emails, 1)
  const forged = buildMessage({ 'X-Pillarbox-Id': 'a'.repeat(42) })
  await receiver.receive({ to: [receiver.mailbox()], raw: forged, from: bob })
  assert.equal((await receiver.listEvents()).length, 1)
})

test('mail of another project of this server is ordinary mail', async (t) => {
  const receiver = await openReceiver(t, shared)
  const other = await addSenderProject(receiver.core, 'Other', 'other.test')
  const id = await receiver.deliver()
  const token = createReturnPathLocalPart(receiver.core.keyring.keys('return-path')[0], id).slice(2)
  const raw = buildMessage({ 'X-Pillarbox-Id': token })
  const to = [receiver.mailbox('help@other.test', other.id), receiver.mailbox()]
  const row = await receiver.receive({ to, raw, from: 'shop@example.test' })
  const email = await receiver.latestEmail()
  assert.equal(email.projectId, other.id)
  assert.deepEqual(row.summary?.acts, [
    { did: 'received', emailId: email.id },
    { did: 'ignored', why: 'mail of this project came back' },
  ])
  assert.deepEqual(
    (await receiver.listEvents()).map(({ name, emailId }) => [name, emailId]),
    [['email.received', email.id]],
  )
})

const pass = { spf: 'PASS', dkim: 'GRAY', dmarc: 'GRAY' } as const

/** Reads as the shared reader does, but knows who really sent what says so. */
const knowing: MessageReader = {
  read: async (message, options) => {
    const reading = await shared.reader.read(message, options)
    const isReal = Buffer.from(message.raw).includes('X-Real: yes')
    if (reading.mail === null || !isReal) return reading
    return { ...reading, mail: { ...reading.mail, verdicts: pass, isAuthenticated: true } }
  },
}

const cappedOf = async (receiver: Receiver) => {
  const raised = await receiver.listEvents()
  return raised.filter(({ data }) => data?.isCapped === true)
}

test('S12: one sender raises 30 events an hour for a mailbox; further mail is stored and marked', async (t) => {
  const receiver = await openReceiver(t, { reader: knowing })
  const write = (address = 'help@example.test') =>
    receiver.receive({
      to: [receiver.mailbox(address)],
      raw: buildMessage({ 'X-Real': 'yes' }),
      from: bob,
    })
  const rows = await Promise.all(Array.from({ length: 32 }, () => write()))
  assert.equal((await receiver.counts()).emails, 32)
  assert.equal((await receiver.listEvents()).length, 32)
  assert.equal((await cappedOf(receiver)).length, 2)
  const [first, second] = rows.filter(({ remark }) => remark !== null)
  assert.equal(first?.remark, 'capped: more than 30 from bob@people.test within an hour')
  assert.equal(second?.remark, first?.remark)
  assert.deepEqual(
    receiver.logged.filter((text) => text === 'received mail was capped'),
    ['received mail was capped', 'received mail was capped'],
  )
  const { inboundId, capped, ...fields } = (receiver.facts as Record<string, unknown>[])[0] ?? {}
  assert.ok([first?.id, second?.id].includes(inboundId as string))
  assert.equal((capped as unknown[]).length, 1)
  assert.deepEqual(fields, { clientAddress: '192.0.2.7', reason: first?.remark })
  assert.equal((await write('sales@example.test')).remark, null)
  receiver.clock.now += 3_600_001
  assert.equal((await write()).remark, null)
  assert.equal((await cappedOf(receiver)).length, 2)
  assert.deepEqual(
    (await listInboundMessages(receiver.core)).map(({ id }) => id).toSorted(),
    [first?.id, second?.id].toSorted(),
  )
})

test('a sender to a thousand mailboxes of a project in an hour is capped, too', async (t) => {
  const receiver = await openReceiver(t, { reader: knowing })
  const raw = buildMessage({ 'X-Real': 'yes' })
  await receiver.receive({ to: [receiver.mailbox('a@example.test')], raw, from: bob })
  await receiver.core.store.write((tx) =>
    tx.run(sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 999)
      insert into received_recently (project_id, sender, mailbox, at)
      select project_id, sender, 'x' || n, at from received_recently, numbers`),
  )
  const row = await receiver.receive({ to: [receiver.mailbox('b@example.test')], raw, from: bob })
  assert.equal(row.remark, 'capped: more than 1000 from bob@people.test within an hour')
  assert.equal((await cappedOf(receiver)).length, 1)
})

test('forged mail does not use up the limit of the address that it claims to be from', async (t) => {
  const receiver = await openReceiver(t, { reader: knowing })
  const forge = (clientAddress: string) =>
    receiver.receive({ to: [receiver.mailbox()], raw: buildMessage({}), from: bob, clientAddress })
  for (let count = 0; count < 32; count += 1) await forge(`203.0.113.${count}`)
  assert.equal((await cappedOf(receiver)).length, 2)
  const real = buildMessage({ 'X-Real': 'yes', Subject: 'The real one' })
  const row = await receiver.receive({ to: [receiver.mailbox()], raw: real, from: bob })
  assert.equal(row.remark, null)
  const [event] = (await receiver.listEvents()).slice(-1)
  assert.equal(event?.data?.subject, 'The real one')
  assert.equal(event?.data?.isCapped, undefined)
  // Nor does the network of one stranger count for another's.
  assert.equal((await forge('198.51.100.1')).remark, null)
  const again = await forge('203.0.113.77')
  assert.equal(
    again.remark,
    'capped: more than 30 from unauthenticated senders of the network 203.0.113.0/24 within an hour',
  )
})

test("capped and ignored mail is in the activity, the operator's list and the log", async (t) => {
  const receiver = await openReceiver(t, { reader: knowing })
  for (let count = 0; count < 31; count += 1) {
    const raw = buildMessage({ Subject: `Number ${count}` })
    await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  }
  const outbound = { preview: async () => [] } as unknown as typeof receiver.core.outbound
  const query = { limit: 50, startAt: 0 }
  const { data } = await listActivity({ ...receiver.core, outbound }, receiver.project.id, query)
  assert.equal(data.length, 31)
  assert.equal(data[0]?.metadata.subject, 'Number 30')
  assert.equal(data[0]?.metadata.isCapped, true)
  const [listed] = await listInboundMessages(receiver.core)
  assert.equal(listed?.subject, 'Number 30')
  assert.match(listed?.remark ?? '', /^capped: more than 30 from unauthenticated senders/)
  const withoutSender = await receiver.receive({
    to: [receiver.mailbox()],
    raw: buildMessage({ From: '' }),
    from: '',
  })
  assert.equal(withoutSender.remark, 'it has no sender')
  assert.equal((await listInboundMessages(receiver.core))[0]?.id, withoutSender.id)
  assert.equal(receiver.logged.at(-1), 'received mail was ignored')
})

test('the sender is the first valid From address, else the reverse path, else none', async (t) => {
  const receiver = await openReceiver(t, shared)
  const cases: [string, string, string | null][] = [
    ['"ceo@bank.test" <Bob@people.test>, eve@else.test', '', bob],
    ['nobody, Bob <bob@people.test>', '', bob],
    ['Team: bob@people.test, eve@else.test;', '', bob],
    ['not an address', 'env@people.test', 'env@people.test'],
    [`"x" <${'b'.repeat(65_536)}@people.test>`, 'env@people.test', 'env@people.test'],
    ['<>', '', null],
    ['', '', null],
  ]
  for (const [field, from, expected] of cases) {
    const before = (await receiver.counts()).emails
    const row = await receiver.receive({
      to: [receiver.mailbox()],
      raw: buildMessage({ From: field }),
      from,
    })
    assert.equal(row.state, 'processed')
    const after = (await receiver.counts()).emails
    assert.equal(after - before, expected === null ? 0 : 1, field.slice(0, 80))
    if (expected !== null) assert.equal((await receiver.latestEmail()).recipient, expected)
  }
})

test('a bounce or complaint to a mailbox about mail of another server is ordinary mail', async (t) => {
  const receiver = await openReceiver(t, shared)
  const row = await receiver.receive({ to: [receiver.mailbox()], raw: buildDsn() })
  assert.equal(row.kind, 'bounce')
  assert.equal((await receiver.listEvents())[0]?.data?.autoReply, true)
})

test('mail for a deleted project does not affect other mail', async (t) => {
  const receiver = await openReceiver(t, shared)
  const gone = '0193f6a0-0000-7000-8000-000000000000'
  const to = [receiver.mailbox('a@gone.test', gone), receiver.mailbox()]
  const row = await receiver.receive({ to, raw: buildMessage({}), from: bob })
  assert.equal(row.state, 'processed')
  assert.equal((await receiver.counts()).emails, 1)
})

test('mail that came before the reset of its project goes with the rest of its data', async (t) => {
  const receiver = await openReceiver(t, shared)
  const { projectId } = receiver.mailbox() as { projectId: string }
  await resetProject(receiver.core, projectId)
  const row = await receiver.receive({ to: [receiver.mailbox()], raw: buildMessage({}), from: bob })
  assert.equal(row.state, 'processed')
  assert.equal((await receiver.counts()).emails, 0)
  assert.deepEqual(await receiver.listEvents(), [])
})

test('mail with HTML also has its plain text, in the event and in the feed', async (t) => {
  const receiver = await openReceiver(t, shared)
  const parts = [
    ...['--b', 'Content-Type: text/plain; charset=utf-8', '', 'Plain *hello*'],
    ...['--b', 'Content-Type: text/html; charset=utf-8', '', '<p>Rich <b>hello</b></p>', '--b--'],
  ].join('\r\n')
  const raw = buildMessage({ 'Content-Type': 'multipart/alternative; boundary="b"' }, parts)
  await receiver.receive({ to: [receiver.mailbox()], raw, from: bob })
  await receiver.receive({
    to: [receiver.mailbox()],
    raw: buildMessage({}, 'Only text'),
    from: bob,
  })
  const both = [
    { body: 'Only text', text: 'Only text' },
    { body: '<p>Rich <b>hello</b></p>', text: 'Plain *hello*' },
  ]
  const { events } = await listEvents(receiver.core, { projectId: receiver.project.id, limit: 10 })
  assert.deepEqual(
    events.map(({ data }) => ({ body: Object(data).body, text: Object(data).text })),
    both,
  )
  const preview = async () => []
  const outbound = Object.assign(receiver.core.outbound, { preview })
  const feed = await listActivity({ ...receiver.core, outbound }, receiver.project.id, {
    limit: 10,
  })
  assert.deepEqual(
    feed.data.map(({ metadata }) => ({ body: metadata.body, text: metadata.text })),
    both,
  )
  await deleteExpiredContent({ ...receiver.core, now: () => receiver.clock.now + 200 * 86_400_000 })
  const [cleared] = (await listEvents(receiver.core, { projectId: receiver.project.id, limit: 10 }))
    .events
  const shown = Object(cleared?.data)
  assert.deepEqual([shown.body, shown.text], [null, null])
  const rows = await receiver.core.store.read.select().from(contents).all()
  assert.ok(rows.every(({ text }) => text === null))
})
