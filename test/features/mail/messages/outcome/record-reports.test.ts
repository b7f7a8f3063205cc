import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import {
  createDeliverer,
  type Deliverer,
} from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { recordReports } from '../../../../../src/features/mail/messages/outcome/record-reports.ts'
import type { EmailReport } from '../../../../../src/features/mail/messages/outcome/reported-email.ts'
import { deleteStrikesOf } from '../../../../../src/features/mail/messages/outcome/strikes.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import type { ReplyVerdict } from '../../../../../src/formats/replies/reply.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { attempts, type Email, emails } from '../../../../../src/store/schema/messages.ts'
import { strikes, suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { START } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'
import { attempted, openSender, type Sender } from '../sender.ts'

const soft: ReplyVerdict = {
  isFinal: true,
  class: 'block',
  reason: 'blocked',
  isHard: false,
  isStrike: false,
  retryAfterMs: null,
  site: 'none',
  countsAsFailure: true,
}
const hard: ReplyVerdict = { ...soft, class: 'hard', reason: 'userunknown', isHard: true }
const full: ReplyVerdict = { ...soft, class: 'quota', reason: 'mailboxfull', isStrike: true }

const bounce = (emailId: string, verdict = hard): EmailReport => ({
  type: 'bounce',
  emailId,
  verdict,
  reply: { code: 550, enhancedCode: '5.1.1', text: 'No such user' },
  diagnostic: '550 5.1.1 No such user',
  reportingMta: 'mx.dest.test',
})

async function open(t: TestContext) {
  const sender = await openSender(t)
  const { store } = sender.core
  return {
    ...sender,
    /** Makes an email to ada@dest.test in this state; returns its id. */
    sent: (change: Partial<Email> = {}) => sendAs(sender, change),
    record: (...reports: EmailReport[]) =>
      store.write((tx) => recordReports(sender.core, tx, reports)),
    list: () => store.read.select().from(suppressions).all(),
    strikeRows: () => store.read.select().from(strikes).all(),
    eventRows: async () => {
      const rows = await store.read.select().from(events).orderBy(events.seq).all()
      return rows.map(({ name, emailId, data }) => ({ name, emailId, data }))
    },
    reportRows: (emailId: string) =>
      store.read.select().from(attempts).where(eq(attempts.emailId, emailId)).all(),
    subscribe: () => store.write((tx) => tx.update(contacts).set({ subscribed: true }).run()),
  }
}

async function sendAs({ core, send }: Sender, change: Partial<Email>): Promise<string> {
  const id = (await send()).emails[0]?.email ?? ''
  const at = core.now()
  const delivered = {
    state: 'delivered',
    status: 'DELIVERED',
    sentAt: at,
    deliveredAt: at,
  } as const
  const row = { ...delivered, dueAt: null, ...change }
  await core.store.write((tx) => setEmails(tx, row, eq(emails.id, id)))
  return id
}

/** Hands the mail of the sender to outbound; its outcome is still to come. */
async function startDelivery(t: TestContext, { core }: Sender): Promise<Deliverer> {
  const { promise: handed, resolve } = Promise.withResolvers<void>()
  const { deliver } = core.outbound
  core.outbound.deliver = (tasks) => {
    deliver(tasks)
    resolve()
  }
  const delivery = createDeliverer(core)
  const queue = startQueue(core, delivery)
  t.after(() => queue.stop())
  await handed
  return delivery
}

test('a hard bounce after delivery bounces the email, suppresses and unsubscribes, once', async (t) => {
  const sender = await open(t)
  const id = await sender.sent()
  await sender.subscribe()
  sender.clock.now = START + 1_000
  assert.deepEqual(await sender.record(bounce(id)), [true])
  const email = await sender.email(id)
  assert.equal(email.state, 'bounced')
  assert.equal(email.status, 'BOUNCED')
  assert.equal(email.bouncedAt, START + 1_000)
  assert.equal(email.deliveredAt, START)
  assert.equal(email.error, '550 5.1.1 No such user')
  const expected = [
    { name: 'email.bounce', emailId: id, data: { bounceType: 'Permanent' } },
    { name: 'contact.unsubscribed', emailId: id, data: { reason: 'bounce' } },
  ]
  assert.deepEqual(await sender.eventRows(), expected)
  const [entry, ...others] = await sender.list()
  assert.equal(others.length, 0)
  assert.equal(entry?.address, 'ada@dest.test')
  assert.equal(entry?.reason, 'HARD_BOUNCE')
  assert.equal(entry?.emailId, id)
  assert.deepEqual(await sender.record(bounce(id), bounce(id, full)), [false, false])
  assert.deepEqual(await sender.eventRows(), expected)
  assert.equal((await sender.reportRows(id)).length, 1)
  assert.equal((await sender.strikeRows()).length, 0)
})

test('bounces recorded together count once for each email, in the order of other reports', async (t) => {
  const { sent, record, subscribe, list, reportRows, eventRows, email } = await open(t)
  const [one, two, three] = [await sent(), await sent(), await sent()]
  await subscribe()
  const complaint: EmailReport = { type: 'complaint', emailId: three, feedbackType: null }
  const reports = [bounce(one), bounce(two, soft), bounce(one), complaint, bounce(three)]
  assert.deepEqual(await record(...reports), [true, true, false, true, false])
  assert.deepEqual(
    await Promise.all([one, two, three].map(async (id) => (await email(id)).status)),
    ['BOUNCED', 'BOUNCED', 'COMPLAINED'],
  )
  assert.deepEqual(
    (await list()).map(({ address, emailId }) => [address, emailId]),
    [['ada@dest.test', one]],
  )
  assert.equal((await reportRows(one)).length, 1)
  const named = (await eventRows()).map(({ name, emailId }) => [name, emailId])
  assert.deepEqual(
    named.filter(([name]) => name === 'email.bounce' || name === 'contact.unsubscribed'),
    [
      ['email.bounce', one],
      ['email.bounce', two],
      ['contact.unsubscribed', one],
    ],
  )
})

test('a failure report bounces delivered mail in any class without a suppression', async (t) => {
  const sender = await open(t)
  const id = await sender.sent({ status: 'CLICKED' })
  await sender.subscribe()
  await sender.record(bounce(id, soft))
  assert.equal((await sender.email(id)).status, 'BOUNCED')
  const [event, ...others] = await sender.eventRows()
  assert.deepEqual(event?.data, { bounceType: 'Undetermined' })
  assert.equal(others.length, 0)
  assert.deepEqual(await sender.list(), [])
  assert.deepEqual(await sender.strikeRows(), [])
})

test('a report is stored beside the attempts, with the reporting server', async (t) => {
  const sender = await open(t)
  const id = await sender.sent()
  await sender.record(bounce(id))
  const [note] = await sender.reportRows(id)
  assert.equal(note?.result, 'reported-bounced')
  assert.equal(note?.host, 'mx.dest.test')
  assert.equal(note?.class, 'hard')
  assert.equal(note?.replyCode, 550)
  assert.deepEqual(note?.steps, [])
})

test('a refusal in session and the report that follows it are one bounce', async (t) => {
  const sender = await openSender(t)
  const accepted = await sender.send()
  const id = accepted.emails[0]?.email ?? ''
  const delivery = await startDelivery(t, sender)
  delivery.finished([attempted(sender.tasks[0] as never, 'bounced', { verdict: full })])
  await delivery.settled(5_000)
  assert.equal(await sender.core.store.read.$count(strikes), 1)
  const changed = await sender.core.store.write((tx) =>
    recordReports(sender.core, tx, [bounce(id, full)]),
  )
  assert.deepEqual(changed, [false])
  assert.deepEqual(await sender.eventNames(), ['email.bounce'])
  assert.equal(await sender.core.store.read.$count(strikes), 1)
})

test('a report that precedes the recorded outcome ends the email, and no event is lost', async (t) => {
  const sender = await openSender(t)
  const [bounced = '', complained = ''] = [
    (await sender.send()).emails[0]?.email,
    (await sender.send()).emails[0]?.email,
  ]
  const delivery = await startDelivery(t, sender)
  const complaint = { type: 'complaint', emailId: complained, feedbackType: null } as const
  await sender.core.store.write((tx) =>
    recordReports(sender.core, tx, [bounce(bounced), complaint]),
  )
  delivery.finished(sender.tasks.map((task) => attempted(task, 'delivered')))
  await delivery.settled(5_000)
  const { store } = sender.core
  const rows = await store.read.select().from(events).orderBy(events.seq).all()
  const namesOf = (id: string) => rows.flatMap(({ name, emailId }) => (emailId === id ? name : []))
  assert.deepEqual(namesOf(bounced), ['email.sent', 'email.bounce'])
  assert.deepEqual(namesOf(complained), ['email.sent', 'email.delivery', 'email.complaint'])
  for (const [id, status] of [
    [bounced, 'BOUNCED'],
    [complained, 'COMPLAINED'],
  ] as const) {
    const email = await sender.email(id)
    assert.deepEqual([email.status, email.sentAt], [status, START])
    const reportRows = await store.read
      .select()
      .from(attempts)
      .where(eq(attempts.emailId, id))
      .all()
    assert.deepEqual(
      reportRows.map(({ result }) => result),
      [`reported-${status === 'BOUNCED' ? 'bounced' : 'complaint'}`, 'delivered'],
    )
  }
})

test('a deferred email ends with a report that it bounced', async (t) => {
  const sender = await open(t)
  const leased = { state: 'sending', status: 'SENDING', leaseUntil: 1, retryAt: 1 }
  const id = await sender.sent({ ...(leased as Partial<Email>), deliveredAt: null, sentAt: null })
  await sender.record(bounce(id))
  const { state, dueAt, leaseUntil, retryAt } = await sender.email(id)
  assert.deepEqual([state, dueAt, leaseUntil, retryAt], ['bounced', null, null, null])
})

test('a delay is recorded once, changes no status, and a failure may follow', async (t) => {
  const sender = await open(t)
  const id = await sender.sent({ state: 'relayed', status: 'SENT', deliveredAt: null })
  const delay = { type: 'delay', emailId: id, diagnostic: 'busy', status: '4.2.0' } as const
  assert.deepEqual(await sender.record(delay, delay), [true, false])
  assert.equal((await sender.email(id)).status, 'SENT')
  const data = { bounceType: 'Transient', transientBounce: true }
  assert.deepEqual(await sender.eventRows(), [{ name: 'email.bounce', emailId: id, data }])
  assert.deepEqual(await sender.record(bounce(id, soft), delay), [true, false])
  assert.equal((await sender.email(id)).status, 'BOUNCED')
})

test('relayed mail becomes DELIVERED by a report; an opened email stays OPENED', async (t) => {
  const sender = await open(t)
  const relayed = { state: 'relayed', status: 'SENT', deliveredAt: null } as const
  const [id, opened] = [
    await sender.sent(relayed),
    await sender.sent({ ...relayed, status: 'OPENED' }),
  ]
  const delivery = (emailId: string) => ({ type: 'delivery', emailId }) as const
  assert.deepEqual(await sender.record(delivery(id), delivery(id), delivery(opened)), [
    true,
    false,
    true,
  ])
  assert.equal((await sender.email(id)).status, 'DELIVERED')
  assert.equal((await sender.email(id)).state, 'delivered')
  assert.equal((await sender.email(opened)).status, 'OPENED')
  assert.equal((await sender.eventRows()).filter(({ name }) => name === 'email.delivery').length, 2)
  const direct = await sender.sent()
  assert.deepEqual(await sender.record(delivery(direct)), [false])
})

test('a complaint suppresses and unsubscribes, and nothing overwrites it', async (t) => {
  const sender = await open(t)
  const id = await sender.sent({ status: 'OPENED' })
  await sender.subscribe()
  const complaint = { type: 'complaint', emailId: id, feedbackType: 'abuse' } as const
  assert.deepEqual(await sender.record(complaint, complaint), [true, false])
  const email = await sender.email(id)
  assert.equal(email.status, 'COMPLAINED')
  assert.equal(email.complainedAt, START)
  assert.equal(email.state, 'delivered')
  assert.deepEqual(await sender.eventRows(), [
    { name: 'email.complaint', emailId: id, data: { feedbackType: 'abuse' } },
    { name: 'contact.unsubscribed', emailId: id, data: { reason: 'complaint' } },
  ])
  assert.equal((await sender.list())[0]?.reason, 'COMPLAINT')
  assert.deepEqual(await sender.record(bounce(id), { type: 'delivery', emailId: id }), [
    false,
    false,
  ])
  assert.equal((await sender.email(id)).status, 'COMPLAINED')
})

test('a complaint about a bounced email counts, and the email stays BOUNCED', async (t) => {
  const sender = await open(t)
  const id = await sender.sent()
  await sender.record(bounce(id, soft))
  const complaint = { type: 'complaint', emailId: id, feedbackType: null } as const
  assert.deepEqual(await sender.record(complaint), [true])
  const { status, state, complainedAt } = await sender.email(id)
  assert.deepEqual([status, state, complainedAt], ['BOUNCED', 'bounced', START])
})

test('a report about a deleted, received or suppressed email changes nothing', async (t) => {
  const sender = await open(t)
  const received = await sender.sent({ state: 'received', status: 'RECEIVED' })
  const suppressed = await sender.sent({ state: 'suppressed', status: 'SUPPRESSED' })
  const gone = '0193f6a0-0000-7000-8000-000000000000'
  const reports = [gone, received, suppressed].flatMap((emailId) => [
    bounce(emailId),
    { type: 'complaint', emailId, feedbackType: null } as const,
  ])
  assert.deepEqual(
    await sender.record(...reports),
    reports.map(() => false),
  )
  assert.deepEqual(await sender.eventRows(), [])
  assert.deepEqual(await sender.list(), [])
})

/** Bounces with a full mailbox on these days; returns the suppression list after each. */
async function strikeOn(sender: Awaited<ReturnType<typeof open>>, days: readonly number[]) {
  const counts: number[] = []
  for (const day of days) {
    sender.clock.now = START + day * DAY_MS
    await sender.record(bounce(await sender.sent(), full))
    counts.push((await sender.list()).length)
  }
  return counts
}

test('three strikes over at least 14 days suppress; two strikes or a shorter time do not', async (t) => {
  const sender = await open(t)
  assert.deepEqual(await strikeOn(sender, [0, 1, 2, 13]), [0, 0, 0, 0])
  await sender.subscribe()
  assert.deepEqual(await strikeOn(sender, [14]), [1])
  const [entry] = await sender.list()
  assert.equal(entry?.reason, 'STRIKES')
  assert.match(entry?.source ?? '', /^5 refusals over 14 days, the last: mailboxfull$/)
  const last = (await sender.eventRows()).at(-1)
  assert.equal(last?.name, 'contact.unsubscribed')
  assert.deepEqual(last?.data, { reason: 'bounce' })
})

test('two strikes far apart do not suppress', async (t) => {
  const sender = await open(t)
  assert.deepEqual(await strikeOn(sender, [0, 100]), [0, 0])
})

test('a delivery between strikes resets the count', async (t) => {
  const sender = await open(t)
  await strikeOn(sender, [0, 7])
  sender.clock.now = START + 10 * DAY_MS
  await sender.sent()
  assert.deepEqual(await strikeOn(sender, [15, 16, 17]), [0, 0, 0])
  assert.deepEqual(await strikeOn(sender, [29]), [1])
})

test('the 250 of an email that bounces later does not reset the count', async (t) => {
  const sender = await open(t)
  await strikeOn(sender, [0, 7])
  sender.clock.now = START + 14 * DAY_MS
  const [first, second] = [await sender.sent(), await sender.sent()]
  await sender.record(bounce(first, full))
  assert.equal((await sender.list()).length, 0)
  await sender.record(bounce(second, full))
  assert.equal((await sender.list()).length, 1)
})

test('a delivery counts until its own bounce is recorded, also of bounces recorded together', async (t) => {
  const sender = await open(t)
  await strikeOn(sender, [0, 7])
  sender.clock.now = START + 15 * DAY_MS
  const [first, second] = [await sender.sent(), await sender.sent()]
  assert.deepEqual(await sender.record(bounce(first, full), bounce(second, soft)), [true, true])
  assert.deepEqual(await sender.list(), [])
  assert.equal((await sender.strikeRows()).length, 3)
})

test('an email is one strike, and deleted strikes do not count', async (t) => {
  const sender = await open(t)
  await strikeOn(sender, [0, 7])
  const { id: projectId } = sender.project
  await sender.core.store.write((tx) =>
    deleteStrikesOf(tx, { projectId, address: 'ada@dest.test' }),
  )
  assert.deepEqual(await strikeOn(sender, [14, 21]), [0, 0])
  assert.equal((await sender.strikeRows()).length, 2)
})

test('blocks of this server and of the content are no strikes, in the session or later', async (t) => {
  const sender = await open(t)
  for (const day of [0, 10, 20]) {
    sender.clock.now = START + day * DAY_MS
    await sender.record(bounce(await sender.sent(), soft))
  }
  assert.deepEqual(await sender.strikeRows(), [])
  assert.deepEqual(await sender.list(), [])
})

test('a bounce and a delay are stored with codes, text and final recipient', async (t) => {
  const sender = await open(t)
  const id = await sender.sent()
  const eventRows = {
    emailId: id,
    reply: { code: null, enhancedCode: '4.2.2', text: 'Mailbox full' },
    diagnostic: 'Mailbox full',
    reportingMta: 'mx.forward.test',
    finalRecipient: 'ada.l@forward.test',
  }
  await sender.record({ type: 'delay', ...eventRows })
  await sender.record({ ...bounce(id), ...eventRows } as EmailReport)
  const reportRows = await sender.reportRows(id)
  assert.deepEqual(
    reportRows.map(({ result, replyCode, enhancedCode, replyText, finalRecipient, host }) => ({
      ...{ result, replyCode, enhancedCode, replyText, finalRecipient, host },
    })),
    ['reported-delayed', 'reported-bounced'].map((result) => ({
      ...{ result, replyCode: null, enhancedCode: '4.2.2', replyText: 'Mailbox full' },
      ...{ finalRecipient: 'ada.l@forward.test', host: 'mx.forward.test' },
    })),
  )
})
