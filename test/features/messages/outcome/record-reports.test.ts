import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  createDeliverer,
  type Deliverer,
} from '../../../../src/features/messages/delivery/deliverer.ts'
import {
  type EmailReport,
  recordReports,
} from '../../../../src/features/messages/outcome/record-reports.ts'
import { deleteStrikesOf } from '../../../../src/features/messages/outcome/strikes.ts'
import { startQueue } from '../../../../src/features/messages/queue/queue.ts'
import type { Verdict } from '../../../../src/mail/replies/reply.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { attempts, type Email, emails } from '../../../../src/store/schema/messages.ts'
import { strikes, suppressions } from '../../../../src/store/schema/suppressions.ts'
import { attempted, type Desk, openDesk, START } from '../desk.ts'

const DAY = 86_400_000

const soft: Verdict = {
  isFinal: true,
  class: 'block',
  reason: 'blocked',
  isHard: false,
  isStrike: false,
  retryAfterMs: null,
  site: 'none',
  countsAsFailure: true,
}
const hard: Verdict = { ...soft, class: 'hard', reason: 'userunknown', isHard: true }
const full: Verdict = { ...soft, class: 'quota', reason: 'mailboxfull', isStrike: true }

const bounce = (emailId: string, verdict = hard): EmailReport => ({
  type: 'bounce',
  emailId,
  verdict,
  reply: { code: 550, enhancedCode: '5.1.1', text: 'No such user' },
  diagnostic: '550 5.1.1 No such user',
  reportingMta: 'mx.dest.test',
})

async function open(t: TestContext) {
  const desk = await openDesk(t)
  const { store } = desk.core
  return {
    ...desk,
    /** An email to ada@dest.test in this state; its id. */
    sent: (change: Partial<Email> = {}) => sendAs(desk, change),
    learn: (...reports: EmailReport[]) =>
      store.write((tx) => recordReports(desk.core, tx, reports)),
    list: () => store.read.select().from(suppressions).all(),
    struck: () => store.read.select().from(strikes).all(),
    told: async () => {
      const rows = await store.read.select().from(events).orderBy(events.seq).all()
      return rows.map(({ name, emailId, data }) => ({ name, emailId, data }))
    },
    notes: (emailId: string) =>
      store.read.select().from(attempts).where(eq(attempts.emailId, emailId)).all(),
    subscribe: () => store.write((tx) => tx.update(contacts).set({ subscribed: true }).run()),
  }
}

async function sendAs({ core, send }: Desk, change: Partial<Email>): Promise<string> {
  const id = (await send()).emails[0]?.email ?? ''
  const at = core.now()
  const delivered = {
    state: 'delivered',
    status: 'DELIVERED',
    sentAt: at,
    deliveredAt: at,
  } as const
  const row = { ...delivered, dueAt: null, ...change }
  await core.store.write((tx) => tx.update(emails).set(row).where(eq(emails.id, id)).run())
  return id
}

/** What was sent is with outbound then, and its outcome still to come. */
async function handOver(t: TestContext, { core }: Desk): Promise<Deliverer> {
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
  const desk = await open(t)
  const id = await desk.sent()
  await desk.subscribe()
  desk.clock.now = START + 1_000
  assert.deepEqual(await desk.learn(bounce(id)), [true])
  const email = await desk.email(id)
  assert.equal(email.state, 'bounced')
  assert.equal(email.status, 'BOUNCED')
  assert.equal(email.bouncedAt, START + 1_000)
  assert.equal(email.deliveredAt, START)
  assert.equal(email.error, '550 5.1.1 No such user')
  const expected = [
    { name: 'email.bounce', emailId: id, data: { bounceType: 'Permanent' } },
    { name: 'contact.unsubscribed', emailId: id, data: { reason: 'bounce' } },
  ]
  assert.deepEqual(await desk.told(), expected)
  const [entry, ...others] = await desk.list()
  assert.equal(others.length, 0)
  assert.equal(entry?.email, 'ada@dest.test')
  assert.equal(entry?.reason, 'HARD_BOUNCE')
  assert.equal(entry?.emailId, id)
  assert.deepEqual(await desk.learn(bounce(id), bounce(id, full)), [false, false])
  assert.deepEqual(await desk.told(), expected)
  assert.equal((await desk.notes(id)).length, 1)
  assert.equal((await desk.struck()).length, 0)
})

test('a report of failure of any class bounces what was delivered, without a suppression', async (t) => {
  const desk = await open(t)
  const id = await desk.sent({ status: 'CLICKED' })
  await desk.subscribe()
  await desk.learn(bounce(id, soft))
  assert.equal((await desk.email(id)).status, 'BOUNCED')
  const [event, ...others] = await desk.told()
  assert.deepEqual(event?.data, { bounceType: 'Undetermined' })
  assert.equal(others.length, 0)
  assert.deepEqual(await desk.list(), [])
  assert.deepEqual(await desk.struck(), [])
})

test('a report is kept beside the attempts, with who reported it', async (t) => {
  const desk = await open(t)
  const id = await desk.sent()
  await desk.learn(bounce(id))
  const [note] = await desk.notes(id)
  assert.equal(note?.result, 'reported-bounced')
  assert.equal(note?.host, 'mx.dest.test')
  assert.equal(note?.class, 'hard')
  assert.equal(note?.replyCode, 550)
  assert.deepEqual(note?.steps, [])
})

test('a refusal in session and the report that follows it are one bounce', async (t) => {
  const desk = await openDesk(t)
  const accepted = await desk.send()
  const id = accepted.emails[0]?.email ?? ''
  const delivery = await handOver(t, desk)
  delivery.report([attempted(desk.tasks[0] as never, 'bounced', { verdict: full })])
  await delivery.settled(5_000)
  assert.equal(await desk.core.store.read.$count(strikes), 1)
  const changed = await desk.core.store.write((tx) =>
    recordReports(desk.core, tx, [bounce(id, full)]),
  )
  assert.deepEqual(changed, [false])
  assert.deepEqual(await desk.eventNames(), ['email.bounce'])
  assert.equal(await desk.core.store.read.$count(strikes), 1)
})

test('a report that comes before the outcome of the session is on disk ends the email, and loses nothing', async (t) => {
  const desk = await openDesk(t)
  const [bounced = '', complained = ''] = [
    (await desk.send()).emails[0]?.email,
    (await desk.send()).emails[0]?.email,
  ]
  const delivery = await handOver(t, desk)
  const complaint = { type: 'complaint', emailId: complained, feedbackType: null } as const
  await desk.core.store.write((tx) => recordReports(desk.core, tx, [bounce(bounced), complaint]))
  delivery.report(desk.tasks.map((task) => attempted(task, 'delivered')))
  await delivery.settled(5_000)
  const { store } = desk.core
  const rows = await store.read.select().from(events).orderBy(events.seq).all()
  const namesOf = (id: string) => rows.flatMap(({ name, emailId }) => (emailId === id ? name : []))
  assert.deepEqual(namesOf(bounced), ['email.sent', 'email.bounce'])
  assert.deepEqual(namesOf(complained), ['email.sent', 'email.delivery', 'email.complaint'])
  for (const [id, status] of [
    [bounced, 'BOUNCED'],
    [complained, 'COMPLAINED'],
  ] as const) {
    const email = await desk.email(id)
    assert.deepEqual([email.status, email.sentAt], [status, START])
    const notes = await store.read.select().from(attempts).where(eq(attempts.emailId, id)).all()
    assert.deepEqual(
      notes.map(({ result }) => result),
      [`reported-${status === 'BOUNCED' ? 'bounced' : 'complaint'}`, 'delivered'],
    )
  }
})

test('what was waiting to be tried again ends with a report that it bounced', async (t) => {
  const desk = await open(t)
  const leased = { state: 'sending', status: 'SENDING', leaseId: 'x', leaseUntil: 1, retryAt: 1 }
  const id = await desk.sent({ ...(leased as Partial<Email>), deliveredAt: null, sentAt: null })
  await desk.learn(bounce(id))
  const { state, dueAt, leaseId, leaseUntil, retryAt } = await desk.email(id)
  assert.deepEqual(
    [state, dueAt, leaseId, leaseUntil, retryAt],
    ['bounced', null, null, null, null],
  )
})

test('a delay is told once, changes no status, and a failure may follow it', async (t) => {
  const desk = await open(t)
  const id = await desk.sent({ state: 'relayed', status: 'SENT', deliveredAt: null })
  const delay = { type: 'delay', emailId: id, diagnostic: 'busy', status: '4.2.0' } as const
  assert.deepEqual(await desk.learn(delay, delay), [true, false])
  assert.equal((await desk.email(id)).status, 'SENT')
  const data = { bounceType: 'Transient', transientBounce: true }
  assert.deepEqual(await desk.told(), [{ name: 'email.bounce', emailId: id, data }])
  assert.deepEqual(await desk.learn(bounce(id, soft), delay), [true, false])
  assert.equal((await desk.email(id)).status, 'BOUNCED')
})

test('relayed mail that is reported delivered becomes DELIVERED; an open stays', async (t) => {
  const desk = await open(t)
  const relayed = { state: 'relayed', status: 'SENT', deliveredAt: null } as const
  const [id, opened] = [await desk.sent(relayed), await desk.sent({ ...relayed, status: 'OPENED' })]
  const delivery = (emailId: string) => ({ type: 'delivery', emailId }) as const
  assert.deepEqual(await desk.learn(delivery(id), delivery(id), delivery(opened)), [
    true,
    false,
    true,
  ])
  assert.equal((await desk.email(id)).status, 'DELIVERED')
  assert.equal((await desk.email(id)).state, 'delivered')
  assert.equal((await desk.email(opened)).status, 'OPENED')
  assert.equal((await desk.told()).filter(({ name }) => name === 'email.delivery').length, 2)
  const direct = await desk.sent()
  assert.deepEqual(await desk.learn(delivery(direct)), [false])
})

test('a complaint suppresses and unsubscribes, and nothing overwrites it', async (t) => {
  const desk = await open(t)
  const id = await desk.sent({ status: 'OPENED' })
  await desk.subscribe()
  const complaint = { type: 'complaint', emailId: id, feedbackType: 'abuse' } as const
  assert.deepEqual(await desk.learn(complaint, complaint), [true, false])
  const email = await desk.email(id)
  assert.equal(email.status, 'COMPLAINED')
  assert.equal(email.complainedAt, START)
  assert.equal(email.state, 'delivered')
  assert.deepEqual(await desk.told(), [
    { name: 'email.complaint', emailId: id, data: { feedbackType: 'abuse' } },
    { name: 'contact.unsubscribed', emailId: id, data: { reason: 'complaint' } },
  ])
  assert.equal((await desk.list())[0]?.reason, 'COMPLAINT')
  assert.deepEqual(await desk.learn(bounce(id), { type: 'delivery', emailId: id }), [false, false])
  assert.equal((await desk.email(id)).status, 'COMPLAINED')
})

test('a complaint about what bounced counts, and the email stays BOUNCED', async (t) => {
  const desk = await open(t)
  const id = await desk.sent()
  await desk.learn(bounce(id, soft))
  const complaint = { type: 'complaint', emailId: id, feedbackType: null } as const
  assert.deepEqual(await desk.learn(complaint), [true])
  const { status, state, complainedAt } = await desk.email(id)
  assert.deepEqual([status, state, complainedAt], ['BOUNCED', 'bounced', START])
})

test('an email that is gone, received or suppressed cannot come back', async (t) => {
  const desk = await open(t)
  const received = await desk.sent({ state: 'received', status: 'RECEIVED' })
  const suppressed = await desk.sent({ state: 'suppressed', status: 'SUPPRESSED' })
  const gone = '0193f6a0-0000-7000-8000-000000000000'
  const reports = [gone, received, suppressed].flatMap((emailId) => [
    bounce(emailId),
    { type: 'complaint', emailId, feedbackType: null } as const,
  ])
  assert.deepEqual(
    await desk.learn(...reports),
    reports.map(() => false),
  )
  assert.deepEqual(await desk.told(), [])
  assert.deepEqual(await desk.list(), [])
})

/** Bounces with a full mailbox on these days; what is on the list after each. */
async function strikeOn(desk: Awaited<ReturnType<typeof open>>, days: readonly number[]) {
  const counts: number[] = []
  for (const day of days) {
    desk.clock.now = START + day * DAY
    await desk.learn(bounce(await desk.sent(), full))
    counts.push((await desk.list()).length)
  }
  return counts
}

test('three strikes over at least 14 days suppress, two or a shorter time do not', async (t) => {
  const desk = await open(t)
  assert.deepEqual(await strikeOn(desk, [0, 1, 2, 13]), [0, 0, 0, 0])
  await desk.subscribe()
  assert.deepEqual(await strikeOn(desk, [14]), [1])
  const [entry] = await desk.list()
  assert.equal(entry?.reason, 'STRIKES')
  assert.match(entry?.source ?? '', /^5 refusals over 14 days, the last: mailboxfull$/)
  const last = (await desk.told()).at(-1)
  assert.equal(last?.name, 'contact.unsubscribed')
  assert.deepEqual(last?.data, { reason: 'bounce' })
})

test('two strikes far apart are not three', async (t) => {
  const desk = await open(t)
  assert.deepEqual(await strikeOn(desk, [0, 100]), [0, 0])
})

test('what was delivered between strikes starts the count anew', async (t) => {
  const desk = await open(t)
  await strikeOn(desk, [0, 7])
  desk.clock.now = START + 10 * DAY
  await desk.sent()
  assert.deepEqual(await strikeOn(desk, [15, 16, 17]), [0, 0, 0])
  assert.deepEqual(await strikeOn(desk, [29]), [1])
})

test('the 250 of mail that bounces a moment later is no sign of life', async (t) => {
  const desk = await open(t)
  await strikeOn(desk, [0, 7])
  desk.clock.now = START + 14 * DAY
  const [first, second] = [await desk.sent(), await desk.sent()]
  await desk.learn(bounce(first, full))
  assert.equal((await desk.list()).length, 0)
  await desk.learn(bounce(second, full))
  assert.equal((await desk.list()).length, 1)
})

test('an email is one strike, and strikes that are forgotten count no more', async (t) => {
  const desk = await open(t)
  await strikeOn(desk, [0, 7])
  const { id: projectId } = desk.project
  await desk.core.store.write((tx) => deleteStrikesOf(tx, { projectId, email: 'ada@dest.test' }))
  assert.deepEqual(await strikeOn(desk, [14, 21]), [0, 0])
  assert.equal((await desk.struck()).length, 2)
})

test('blocks of our address and of the content are no strikes, in session or later', async (t) => {
  const desk = await open(t)
  for (const day of [0, 10, 20]) {
    desk.clock.now = START + day * DAY
    await desk.learn(bounce(await desk.sent(), soft))
  }
  assert.deepEqual(await desk.struck(), [])
  assert.deepEqual(await desk.list(), [])
})

test('a bounce and a delay keep their codes, their words and whom they name', async (t) => {
  const desk = await open(t)
  const id = await desk.sent()
  const told = {
    emailId: id,
    reply: { code: null, enhancedCode: '4.2.2', text: 'Mailbox full' },
    diagnostic: 'Mailbox full',
    reportingMta: 'mx.forward.test',
    finalRecipient: 'ada.l@forward.test',
  }
  await desk.learn({ type: 'delay', ...told })
  await desk.learn({ ...bounce(id), ...told } as EmailReport)
  const notes = await desk.notes(id)
  assert.deepEqual(
    notes.map(({ result, replyCode, enhancedCode, replyText, finalRecipient, host }) => ({
      ...{ result, replyCode, enhancedCode, replyText, finalRecipient, host },
    })),
    ['reported-delayed', 'reported-bounced'].map((result) => ({
      ...{ result, replyCode: null, enhancedCode: '4.2.2', replyText: 'Mailbox full' },
      ...{ finalRecipient: 'ada.l@forward.test', host: 'mx.forward.test' },
    })),
  )
})
