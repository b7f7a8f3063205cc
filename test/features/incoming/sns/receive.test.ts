import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../../src/base/clock.ts'
import { AppError } from '../../../../src/base/errors.ts'
import { insertInboundMessage } from '../../../../src/features/incoming/receiving/accept/accept-message.ts'
import {
  findReportedByMessageId,
  findReportedByProviderId,
} from '../../../../src/features/incoming/sns/find-email.ts'
import { NOTIFICATIONS } from '../../../../src/features/incoming/sns/processed-messages.ts'
import {
  createSnsReceiver,
  type SnsReceiver,
} from '../../../../src/features/incoming/sns/receive.ts'
import { upsertContact } from '../../../../src/features/people/contacts/write/contact-queue.ts'
import { deleteContact } from '../../../../src/features/people/contacts/write/delete.ts'
import {
  createReturnPathLocalPart,
  createUnsubscribeLocalPart,
} from '../../../../src/formats/signed-tokens.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { inboundMessages, snsNotifications } from '../../../../src/store/schema/inbound.ts'
import { attempts, type Email, emails } from '../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { erasedRecipients, wishes } from '../../../../src/store/schema/wishes.ts'
import { deleteExpired } from '../../../../src/work/retention.ts'
import { address, START } from '../../../core.ts'
import { makeCertificate } from '../../../fakes/certificate.ts'
import {
  CERTIFICATE_URL,
  createSns,
  type FakeSns,
  type FakeSnsOptions,
  SUBSCRIBE_URL,
  sesEvent,
  TOPIC,
} from '../../../fakes/sns.ts'
import { setEmails } from '../../../set-emails.ts'
import { openSender, type Sender } from '../../mail/messages/sender.ts'
import { work } from '../../operation/erasure/work.ts'

const SES_ID = '0102018f00000000-aaaaaaaa-0000-4000-8000-000000000000-000000'
const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

type Counter = { sender: Sender; sns: FakeSns; receiver: SnsReceiver; warnings: string[] }

const validity = { validFrom: START - 30 * DAY_MS, validTo: START + 30 * DAY_MS }
const shared = createSns({ ...validity, now: () => START })

async function openCounter(
  t: Parameters<typeof openSender>[0],
  options: { sns?: FakeSns; topicArns?: string[]; publicFetch?: FakeSns['publicFetch'] } = {},
): Promise<Counter> {
  const sender = await openSender(t)
  const { sns = shared, topicArns = [TOPIC], publicFetch = sns.publicFetch } = options
  sns.asked.length = 0
  const warnings: string[] = []
  const log = Object.create(sender.core.log, {
    warn: { value: (facts: { why?: string }) => warnings.push(facts.why ?? '') },
  })
  const config = { ...sender.core.config, sns: { topicArns } }
  const core = Object.assign(sender.core, { config, publicFetch, log })
  return { sender, sns, receiver: createSnsReceiver(core), warnings }
}

/** An email that the relay took, with that id of its own. */
async function relay(sender: Sender, change: Partial<Email> = {}): Promise<string> {
  const { emails: sent } = await sender.send({ subscribed: true })
  const id = sent[0]?.email as string
  const row = { state: 'relayed', status: 'SENT', sentAt: START, dueAt: null } as const
  await sender.core.store.write(async (tx) => {
    await setEmails(tx, { ...row, providerId: SES_ID, ...change }, eq(emails.id, id))
  })
  return id
}

const eventsOf = async ({ core }: Sender, emailId: string) => {
  const rows = await core.store.read.select().from(events).orderBy(events.seq).all()
  return rows.filter((row) => row.emailId === emailId).map(({ name, data }) => [name, data])
}

const mail = { messageId: SES_ID, destination: ['ada@dest.test'] }
const hardBounce = {
  bounceType: 'Permanent',
  bounceSubType: 'General',
  reportingMTA: 'dns; a8-70.smtp-out.eu-west-1.amazonses.com',
  bouncedRecipients: [
    {
      emailAddress: 'Ada@dest.test',
      action: 'failed',
      status: '5.1.1',
      diagnosticCode: 'smtp; 550 5.1.1 user unknown',
    },
  ],
}

const post = ({ receiver, sns }: Counter, Message: string, change = {}) =>
  receiver.receive(sns.message({ Message, ...change }))

const isRefused = { code: 'FORBIDDEN', status: 403 }

for (const SignatureVersion of ['1', '2']) {
  test(`a delivery signed by version ${SignatureVersion} turns SENT into DELIVERED`, async (t) => {
    const counter = await openCounter(t)
    const id = await relay(counter.sender)
    await post(counter, sesEvent('Delivery', mail), { SignatureVersion, Subject: 'Amazon SES' })
    assert.equal((await counter.sender.email(id)).status, 'DELIVERED')
    assert.deepEqual(await eventsOf(counter.sender, id), [['email.delivery', null]])
  })
}

test('notificationType is read like eventType', async (t) => {
  const counter = await openCounter(t)
  const id = await relay(counter.sender)
  await post(counter, JSON.stringify({ notificationType: 'Delivery', mail, delivery: {} }))
  assert.equal((await counter.sender.email(id)).status, 'DELIVERED')
})

test('a permanent bounce suppresses the address and unsubscribes the contact', async (t) => {
  const counter = await openCounter(t)
  const { sender } = counter
  const id = await relay(sender)
  await post(counter, sesEvent('Bounce', mail, hardBounce))
  const email = await sender.email(id)
  assert.deepEqual([email.status, email.error], ['BOUNCED', 'smtp; 550 5.1.1 user unknown'])
  const { read } = sender.core.store
  const [suppression] = await read.select().from(suppressions).all()
  assert.deepEqual(
    [suppression?.address, suppression?.reason, suppression?.emailId],
    ['ada@dest.test', 'HARD_BOUNCE', id],
  )
  assert.deepEqual((await eventsOf(sender, id))[0], ['email.bounce', { bounceType: 'Permanent' }])
  const [contact] = await read.select().from(contacts).all()
  assert.equal(contact?.subscribed, false)
})

test('an undetermined bounce with any diagnostic neither suppresses nor unsubscribes', async (t) => {
  const counter = await openCounter(t)
  const { sender } = counter
  const id = await relay(sender)
  await post(counter, sesEvent('Bounce', mail, { ...hardBounce, bounceType: 'Undetermined' }))
  assert.equal((await sender.email(id)).status, 'BOUNCED')
  assert.deepEqual(await eventsOf(sender, id), [['email.bounce', { bounceType: 'Undetermined' }]])
  assert.equal(await sender.core.store.read.$count(suppressions), 0)
  const [contact] = await sender.core.store.read.select().from(contacts).all()
  assert.equal(contact?.subscribed, true)
})

test('a transient bounce raises an event and changes nothing', async (t) => {
  const counter = await openCounter(t)
  const id = await relay(counter.sender)
  await post(counter, sesEvent('Bounce', mail, { ...hardBounce, bounceType: 'Transient' }))
  assert.equal((await counter.sender.email(id)).status, 'SENT')
  const data = { bounceType: 'Transient', transientBounce: true }
  assert.deepEqual(await eventsOf(counter.sender, id), [['email.bounce', data]])
  assert.equal(await counter.sender.core.store.read.$count(suppressions), 0)
})

test('a bounce or complaint of another address than the recipient changes nothing', async (t) => {
  const counter = await openCounter(t)
  const id = await relay(counter.sender)
  const bouncedRecipients = [{ emailAddress: 'forwarded@elsewhere.test' }]
  await post(counter, sesEvent('Bounce', mail, { ...hardBounce, bouncedRecipients }))
  const complainedRecipients = [{ emailAddress: 'forwarded@elsewhere.test' }]
  await post(counter, sesEvent('Complaint', mail, { complainedRecipients }))
  assert.equal((await counter.sender.email(id)).status, 'SENT')
  assert.deepEqual(await eventsOf(counter.sender, id), [])
})

test('a bounce without an address is about the recipient', async (t) => {
  const counter = await openCounter(t)
  const id = await relay(counter.sender)
  await post(
    counter,
    sesEvent('Bounce', mail, { ...hardBounce, bouncedRecipients: [{ status: '5.1.1' }] }),
  )
  assert.equal((await counter.sender.email(id)).status, 'BOUNCED')
  assert.equal(await counter.sender.core.store.read.$count(suppressions), 1)
})

test('texts in a notification are stored as one line of limited length', async (t) => {
  const counter = await openCounter(t)
  const { read } = counter.sender.core.store
  const long = `abuse\r\nX: ${'y'.repeat(1_000)}`
  const complained = await relay(counter.sender)
  await post(counter, sesEvent('Complaint', mail, { complaintFeedbackType: long }))
  const bounced = await relay(counter.sender, { providerId: 'second' })
  const reportingMTA = `dsn; mta.example.com\n${long}`
  await post(counter, sesEvent('Bounce', { messageId: 'second' }, { ...hardBounce, reportingMTA }))
  const [complaint] = await eventsOf(counter.sender, complained)
  const source = `abuse X: ${'y'.repeat(91)}`
  assert.deepEqual(complaint, ['email.complaint', { feedbackType: source }])
  const [suppression] = await read.select().from(suppressions).all()
  assert.equal(suppression?.source, `complaint (${source})`)
  const [host] = await read
    .select({ host: attempts.host })
    .from(attempts)
    .where(eq(attempts.emailId, bounced))
    .all()
  assert.match(host?.host ?? '', /^mta\.example\.com abuse X: y{215}$/)
})

test('a delivery notification for an email that is still being sent must come again', async (t) => {
  const counter = await openCounter(t)
  const { sender, receiver, sns } = counter
  const id = await relay(sender, { state: 'sending', status: 'SENDING', providerId: null })
  const commonHeaders = { messageId: (await sender.email(id)).messageId }
  const message = sns.message({ Message: sesEvent('Delivery', { ...mail, commonHeaders }) })
  await assert.rejects(receiver.receive(message), { code: 'EXTERNAL_SERVICE_ERROR', status: 503 })
  await sender.core.store.write(async (tx) => {
    await setEmails(tx, { state: 'relayed', status: 'SENT' }, eq(emails.id, id))
  })
  await receiver.receive(message)
  assert.equal((await sender.email(id)).status, 'DELIVERED')
})

test('a complaint suppresses and unsubscribes; a report of another kind does not', async (t) => {
  const counter = await openCounter(t)
  const { sender } = counter
  const id = await relay(sender)
  const complainedRecipients = [{ emailAddress: 'ada@dest.test' }]
  const complaint = (complaintFeedbackType: string) =>
    sesEvent('Complaint', mail, { complainedRecipients, complaintFeedbackType })
  for (const type of ['not-spam', 'auth-failure']) await post(counter, complaint(type))
  assert.equal((await sender.email(id)).status, 'SENT')
  await post(counter, complaint('abuse'))
  assert.equal((await sender.email(id)).status, 'COMPLAINED')
  const [suppression] = await sender.core.store.read.select().from(suppressions).all()
  assert.equal(suppression?.reason, 'COMPLAINT')
  assert.deepEqual((await eventsOf(sender, id))[0], ['email.complaint', { feedbackType: 'abuse' }])
})

const FEEDBACK_WISHES = [
  ['abuse', 'complaint'],
  ['OPT-OUT', 'mail'],
] as const

for (const [complaintFeedbackType, kind] of FEEDBACK_WISHES) {
  const post = async ({ receiver, sns }: Counter, headers: object[]) => {
    const event = { messageId: 'unknown', headers }
    await receiver.receive(
      sns.message({ Message: sesEvent('Complaint', event, { complaintFeedbackType }) }),
    )
  }
  const begin = async (t: Parameters<typeof openSender>[0]) => {
    const counter = await openCounter(t)
    const { core, project } = counter.sender
    const email = await counter.sender.email(await relay(counter.sender))
    await deleteContact(core, { projectId: project.id, id: email.contactId })
    await work(core)
    assert.equal(await core.store.read.$count(emails), 0)
    const digest = core.keyring.addressDigest(project.id, email.recipient)
    const readWish = () => core.store.read.select().from(wishes).get()
    return { counter, email, digest, readWish }
  }

  test(`${complaintFeedbackType} about a deleted email is a wish by its signed id`, async (t) => {
    const { counter, email, digest, readWish } = await begin(t)
    const { keyring, store } = counter.sender.core
    const localPart = createReturnPathLocalPart(keyring.keys('return-path')[0], email.id, digest)
    const forged = createReturnPathLocalPart(Buffer.alloc(32), email.id, digest)
    const field = (value: string) => [{ name: 'X-Pillarbox-Id', value: value.slice(2) }]
    await assert.rejects(post(counter, field(forged)), { code: 'RESOURCE_NOT_FOUND' })
    assert.equal(await readWish(), undefined)
    await store.write((tx) => tx.delete(erasedRecipients).run())
    await post(counter, field(localPart))
    const wish = await readWish()
    assert.deepEqual([wish?.digest, wish?.kind], [digest, kind])
    const { project } = counter.sender
    const again = address(email.recipient)
    await upsertContact(counter.sender.core, { projectId: project.id, address: again })
    assert.equal((await store.read.select().from(contacts).get())?.subscribed, false)
  })

  test(`${complaintFeedbackType} about a deleted email is a wish by our Message-ID`, async (t) => {
    const { counter, email, digest, readWish } = await begin(t)
    const { core, project } = counter.sender
    const field = (value: string) => [{ name: 'Message-ID', value: `<${value}>` }]
    const unknown = `${newId()}@example.test`
    await assert.rejects(post(counter, field(unknown)), { code: 'RESOURCE_NOT_FOUND' })
    assert.equal(await core.store.read.$count(snsNotifications), 0)
    const row = { id: email.id, digest, projectId: project.id, at: START }
    await core.store.write((tx) =>
      tx.insert(erasedRecipients).values(row).onConflictDoNothing().run(),
    )
    await post(counter, field(email.messageId))
    const wish = await readWish()
    assert.deepEqual([wish?.digest, wish?.kind], [digest, kind])
  })
}

test('an opt-out is a wish of the recipient, and no complaint', async (t) => {
  const counter = await openCounter(t)
  const { sender } = counter
  const { read } = sender.core.store
  const id = await relay(sender)
  const optOut = (emailAddress: string) =>
    sesEvent('Complaint', mail, {
      complaintFeedbackType: 'opt-out',
      complainedRecipients: [{ emailAddress }],
    })
  await post(counter, optOut('forwarded@elsewhere.test'))
  assert.equal((await read.select().from(contacts).get())?.subscribed, true)
  await post(counter, optOut('Ada@dest.test'))
  assert.equal((await sender.email(id)).status, 'SENT')
  assert.equal(await read.$count(suppressions), 0)
  assert.deepEqual(await eventsOf(sender, id), [['contact.unsubscribed', { reason: 'mail' }]])
  assert.equal((await read.select().from(wishes).get())?.kind, 'mail')
})

test('opens and clicks count, those of machines separately', async (t) => {
  const counter = await openCounter(t)
  const { sender } = counter
  const id = await relay(sender, { sentAt: START - MINUTE_MS })
  sender.clock.now = START + MINUTE_MS
  const timestamp = new Date(START).toISOString()
  const person = { timestamp, userAgent: BROWSER }
  await post(counter, sesEvent('Open', mail, person))
  await post(counter, sesEvent('Open', mail, { timestamp, userAgent: 'curl/8.0' }))
  await post(counter, sesEvent('Click', mail, { ...person, link: 'https://shop.test/a?b=c' }))
  const email = await sender.email(id)
  assert.deepEqual(
    [email.status, email.opens, email.machineOpens, email.clicks, email.openedAt],
    ['CLICKED', 1, 1, 1, START],
  )
  const [open, click] = await eventsOf(sender, id)
  assert.equal(open?.[0], 'email.open')
  assert.equal(click?.[0], 'email.click')
  assert.equal((click?.[1] as { link: string } | undefined)?.link, 'https://shop.test/a?b=c')
})

test('an open with a time in the future counts as now', async (t) => {
  const counter = await openCounter(t)
  const id = await relay(counter.sender, { sentAt: START - MINUTE_MS })
  const timestamp = new Date(START + DAY_MS).toISOString()
  await post(counter, sesEvent('Open', mail, { timestamp, userAgent: BROWSER }))
  assert.equal((await counter.sender.email(id)).openedAt, START)
})

test('a repeated notification is processed once', async (t) => {
  const counter = await openCounter(t)
  const { sender, receiver, sns } = counter
  const id = await relay(sender, { sentAt: START - MINUTE_MS })
  const message = sns.message({ Message: sesEvent('Open', mail, { userAgent: BROWSER }) })
  await Promise.all([receiver.receive(message), receiver.receive(message)])
  await receiver.receive(message)
  assert.equal((await sender.email(id)).opens, 1)
  assert.equal(await sender.core.store.read.$count(snsNotifications), 1)
})

test('an email is found by its Message-ID when the id of SES is unknown', async (t) => {
  const counter = await openCounter(t)
  const { sender } = counter
  const own = await relay(sender, { providerId: null })
  const { messageId } = await sender.email(own)
  const other = await relay(sender, { providerId: null, messageId: 'chosen.id@example.test' })
  const received = await relay(sender, {
    providerId: null,
    messageId: 'theirs@dest.test',
    sourceType: 'INBOUND',
  })
  const named = (id: string) => ({ messageId: 'unknown', commonHeaders: { messageId: `<${id}>` } })
  await post(counter, sesEvent('Delivery', named(messageId)))
  assert.equal((await sender.email(own)).status, 'DELIVERED')
  const headers = [{ name: 'Message-Id', value: '<chosen.id@example.test>' }]
  await post(counter, sesEvent('Delivery', { messageId: 'unknown', headers }))
  assert.equal((await sender.email(other)).status, 'DELIVERED')
  await assert.rejects(post(counter, sesEvent('Delivery', named('theirs@dest.test'))), {
    status: 404,
  })
  assert.equal((await sender.email(received)).status, 'SENT')
})

test("a Message-ID that only begins with an email's id finds nothing", async (t) => {
  const counter = await openCounter(t)
  const id = await relay(counter.sender, { providerId: null })
  const commonHeaders = { messageId: `<${id}@elsewhere.test>` }
  const message = sesEvent('Delivery', { messageId: 'unknown', commonHeaders })
  await assert.rejects(post(counter, message), { code: 'RESOURCE_NOT_FOUND', status: 404 })
})

test('an unknown email is 404, no message id is 400, and both may be sent again', async (t) => {
  const counter = await openCounter(t)
  await assert.rejects(post(counter, sesEvent('Bounce', { messageId: 'unknown' }, hardBounce)), {
    code: 'RESOURCE_NOT_FOUND',
    status: 404,
  })
  await assert.rejects(post(counter, sesEvent('Bounce', {}, hardBounce)), {
    code: 'BAD_REQUEST',
    status: 400,
  })
  assert.equal(await counter.sender.core.store.read.$count(snsNotifications), 0)
})

for (const Message of [
  'Successfully validated SNS topic for Amazon SES event publishing.',
  '"text"',
  '[]',
  sesEvent('Reject', mail),
]) {
  test(`${Message.slice(0, 30)} is acknowledged and has no effect`, async (t) => {
    const counter = await openCounter(t)
    const id = await relay(counter.sender)
    await post(counter, Message)
    assert.equal((await counter.sender.email(id)).status, 'SENT')
  })
}

test('outcomes of a disabled project are still recorded', async (t) => {
  const counter = await openCounter(t)
  const { sender } = counter
  const id = await relay(sender)
  await sender.core.store.write(async (tx) => {
    await tx.update(projects).set({ isDisabled: true })
  })
  await post(counter, sesEvent('Bounce', mail, hardBounce))
  assert.equal((await sender.email(id)).status, 'BOUNCED')
  assert.equal(await sender.core.store.read.$count(suppressions), 1)
})

test('while the database cannot write, nothing is stored and the error makes SNS try again', async (t) => {
  const { sender, sns, receiver } = await openCounter(t)
  const id = await relay(sender)
  const message = sns.message({ Message: sesEvent('Delivery', mail) })
  const { write } = sender.core.store
  sender.core.store.write = async () => {
    throw new AppError('DATABASE_ERROR', 'The database could not be written.')
  }
  await assert.rejects(receiver.receive(message), { code: 'DATABASE_ERROR', status: 503 })
  sender.core.store.write = write
  await receiver.receive(message)
  assert.equal((await sender.email(id)).status, 'DELIVERED')
})

test('a notification whose processing fails is acknowledged, rolled back and logged', async (t) => {
  const { sender, sns, receiver } = await openCounter(t)
  const id = await relay(sender)
  const errors: unknown[] = []
  sender.core.log.error = (facts: unknown) => void errors.push(facts)
  const { write } = sender.core.store
  sender.core.store.write = (fn) =>
    write(async (tx) => {
      await fn(tx)
      throw new RangeError('a bug')
    })
  await receiver.receive(sns.message({ Message: sesEvent('Delivery', mail) }))
  assert.equal(errors.length, 1)
  assert.equal((await sender.email(id)).status, 'SENT')
  assert.equal(await sender.core.store.read.$count(snsNotifications), 0)
})

// Messages that are not trusted.

const forgeries: [string, Record<string, string>][] = [
  ['another text', { Message: sesEvent('Bounce', mail, hardBounce) }],
  ['another id', { MessageId: '00000000-0000-0000-0000-000000000000' }],
  ['another time', { Timestamp: new Date(START + 1).toISOString() }],
  ['a subject that was not signed', { Subject: 'Hello' }],
  ['another signature', { Signature: Buffer.alloc(256).toString('base64') }],
  ['no base64 for a signature', { Signature: '%%%' }],
  ['the other signature version', { SignatureVersion: '2' }],
  ['another type', { Type: 'UnsubscribeConfirmation', Token: 't', SubscribeURL: SUBSCRIBE_URL }],
]

for (const [what, change] of forgeries) {
  test(`S13: a notification with ${what} is not trusted`, async (t) => {
    const counter = await openCounter(t)
    const { sender, receiver, sns, warnings } = counter
    const id = await relay(sender)
    const message = sns.message({ Message: sesEvent('Delivery', mail) })
    await assert.rejects(receiver.receive({ ...message, ...change }), isRefused)
    assert.equal((await sender.email(id)).status, 'SENT')
    assert.equal(await sender.core.store.read.$count(snsNotifications), 0)
    assert.deepEqual(warnings, ['the signature is not valid'])
  })
}

test('a topic that is not listed is not trusted, and nothing is fetched for it', async (t) => {
  const counter = await openCounter(t)
  const id = await relay(counter.sender)
  const change = { TopicArn: 'arn:aws:sns:eu-west-1:999999999999:mail' }
  await assert.rejects(post(counter, sesEvent('Bounce', mail, hardBounce), change), isRefused)
  assert.deepEqual(counter.sns.asked, [])
  assert.equal((await counter.sender.email(id)).status, 'SENT')
})

test('without topics no message is trusted', async (t) => {
  const counter = await openCounter(t, { topicArns: [] })
  assert.equal(counter.receiver.isOpen, false)
  await assert.rejects(post(counter, '{}'), isRefused)
  assert.deepEqual(counter.sns.asked, [])
})

test('a message older than two hours, or from the future, is not trusted', async (t) => {
  const counter = await openCounter(t)
  await relay(counter.sender)
  const Timestamp = (at: number) => ({ Timestamp: new Date(at).toISOString() })
  const delivery = sesEvent('Delivery', mail)
  await assert.rejects(post(counter, delivery, Timestamp(START - 120 * MINUTE_MS - 1)), isRefused)
  await assert.rejects(post(counter, delivery, Timestamp(START + 15 * MINUTE_MS + 1)), isRefused)
  await post(counter, delivery, Timestamp(START - 119 * MINUTE_MS))
  await post(counter, delivery, Timestamp(START + 14 * MINUTE_MS))
})

test('a certificate of another host is not fetched, even with a valid signature', async (t) => {
  const counter = await openCounter(t)
  for (const SigningCertURL of [
    'https://sns.eu-west-1.amazonaws.com.evil.test/a.pem',
    'https://sns.eu-west-1.amazonaws.com@evil.test/a.pem',
    'http://sns.eu-west-1.amazonaws.com/a.pem',
    'https://127.0.0.1/a.pem',
  ]) {
    await assert.rejects(post(counter, '{}', { SigningCertURL }), isRefused)
  }
  assert.deepEqual(counter.sns.asked, [])
})

test('an internal address is refused for good, a failed request only for now', async (t) => {
  let isRefusal = true
  const publicFetch = async () =>
    ({ ok: false, isRefused: isRefusal, error: 'it has the address 10.0.0.1' }) as const
  const counter = await openCounter(t, { publicFetch })
  await assert.rejects(post(counter, '{}'), isRefused)
  isRefusal = false
  counter.sender.clock.now += 10_001
  await assert.rejects(post(counter, '{}'), { code: 'EXTERNAL_SERVICE_ERROR', status: 503 })
})

const badCertificates: [string, FakeSnsOptions, string][] = [
  ['is over', { validFrom: START - DAY_MS, validTo: START - 1_000 }, 'not valid at this time'],
  [
    'has not begun',
    { validFrom: START + 1_000, validTo: START + DAY_MS },
    'not valid at this time',
  ],
  [
    'is of another host',
    { names: ['sns.evil.test'] },
    'the certificate is issued to CN=sns.evil.test',
  ],
  ['is no certificate', { served: { status: 200, body: 'hello' } }, 'cannot be read'],
  ['is not there', { served: { status: 404, body: '' } }, 'responded with 404'],
  ['is a redirect', { served: { status: 302, body: '' } }, 'responded with 302'],
  [
    'is not RSA',
    { served: { status: 200, body: makeCertificate(['sns.amazonaws.com']).cert } },
    'not RSA',
  ],
]

for (const [what, options, why] of badCertificates) {
  test(`a certificate that ${what} is not trusted`, async (t) => {
    const counter = await openCounter(t, {
      sns: createSns({ ...validity, now: () => START, ...options }),
    })
    await assert.rejects(post(counter, '{}'), isRefused)
    assert.match(counter.warnings[0] ?? '', new RegExp(why))
  })
}

test('a signer with another certificate is not trusted', async (t) => {
  const counter = await openCounter(t)
  const forger = createSns({ ...validity, now: () => START, hasOwnKey: true })
  await assert.rejects(counter.receiver.receive(forger.message()), isRefused)
})

test('a certificate is fetched once, also for concurrent messages, and again after a day', async (t) => {
  const counter = await openCounter(t)
  const { sender, sns } = counter
  await Promise.all(Array.from({ length: 5 }, () => post(counter, 'hello')))
  await post(counter, 'hello')
  assert.deepEqual(sns.asked, [CERTIFICATE_URL])
  sender.clock.now += DAY_MS
  const Timestamp = new Date(sender.clock.now).toISOString()
  await post(counter, 'hello', { Timestamp })
  assert.deepEqual(sns.asked, [CERTIFICATE_URL, CERTIFICATE_URL])
})

test('a failed certificate fetch is not repeated within ten seconds, nor for every concurrent message', async (t) => {
  let asked = 0
  const hold = Promise.withResolvers<void>()
  const publicFetch = async () => {
    asked += 1
    await hold.promise
    return { ok: true, status: 503, body: Buffer.alloc(0) } as const
  }
  const counter = await openCounter(t, { publicFetch })
  const urls = Array.from({ length: 9 }, (_, index) =>
    CERTIFICATE_URL.replace('.pem', `${index}.pem`),
  )
  const posts = urls.map((SigningCertURL) => post(counter, '{}', { SigningCertURL }))
  hold.resolve()
  for (const each of await Promise.allSettled(posts)) assert.equal(each.status, 'rejected')
  assert.equal(asked, 4)
  await assert.rejects(post(counter, '{}', { SigningCertURL: urls[0] }), { status: 503 })
  assert.equal(asked, 4)
  counter.sender.clock.now += 10_001
  await assert.rejects(post(counter, '{}', { SigningCertURL: urls[0] }), { status: 503 })
  assert.equal(asked, 5)
})

test('other certificate URLs do not evict good certificates from the cache', async (t) => {
  const counter = await openCounter(t)
  const { sns, receiver } = counter
  await post(counter, 'hello')
  const strange = Array.from({ length: 60 }, (_, index) => ({
    ...sns.message({ SigningCertURL: CERTIFICATE_URL.replace('.pem', `${index}.pem`) }),
    Message: 'forged',
  }))
  await Promise.allSettled(strange.map((message) => receiver.receive(message)))
  await post(counter, 'hello')
  assert.equal(sns.asked.filter((url) => url === CERTIFICATE_URL).length, 1)
})

for (const [host, name] of [
  ['sns.af-south-1.amazonaws.com', 'sns-signing.af-south-1.amazonaws.com'],
  ['sns.cn-north-1.amazonaws.com.cn', 'sns-cn-north-1.amazonaws.com.cn'],
  ['sns.us-gov-west-1.amazonaws.com', 'sns-us-gov-west-1.amazonaws.com'],
  ['sns.us-gov-east-1.amazonaws.com', 'sns-us-gov-west-1.amazonaws.com'],
] as const) {
  test(`${host} signs as ${name}, and no other region does`, async (t) => {
    const regional = createSns({ ...validity, now: () => START, names: [name] })
    const counter = await openCounter(t, { sns: regional })
    await post(counter, 'hello', { SigningCertURL: `https://${host}/a.pem` })
    await assert.rejects(post(counter, 'hello'), isRefused)
  })
}

// Subscriptions.

const confirmation = { Type: 'SubscriptionConfirmation', Token: 't', SubscribeURL: SUBSCRIBE_URL }

test('a subscription to a listed topic is confirmed, once', async (t) => {
  const { receiver, sns } = await openCounter(t)
  const message = sns.message(confirmation)
  await receiver.receive(message)
  await receiver.receive(message)
  assert.deepEqual(sns.asked, [CERTIFICATE_URL, SUBSCRIBE_URL])
})

for (const SubscribeURL of [
  'http://127.0.0.1:8080/internal',
  'https://169.254.169.254/latest/meta-data/',
  'https://sns.eu-west-1.amazonaws.com.evil.test/?Action=ConfirmSubscription',
  SUBSCRIBE_URL.replace('ConfirmSubscription', 'DeleteTopic'),
]) {
  test(`S14: a signed subscription is not confirmed at ${SubscribeURL}`, async (t) => {
    const { receiver, sns } = await openCounter(t)
    await assert.rejects(
      receiver.receive(sns.message({ ...confirmation, SubscribeURL })),
      isRefused,
    )
    assert.deepEqual(sns.asked, [CERTIFICATE_URL])
  })
}

test('S14: no confirmation is requested from a host of SNS with an internal address', async (t) => {
  const { receiver, sns } = await openCounter(t, {
    publicFetch: async (url) =>
      url.pathname.endsWith('.pem')
        ? shared.publicFetch(url)
        : { ok: false, isRefused: true, error: 'it has the address 10.0.0.1' },
  })
  await assert.rejects(receiver.receive(sns.message(confirmation)), isRefused)
})

test('a forged confirmation, or one of another topic, is not fetched', async (t) => {
  const { receiver, sns } = await openCounter(t)
  const message = sns.message(confirmation)
  await assert.rejects(receiver.receive({ ...message, Token: 'other' }), isRefused)
  const TopicArn = 'arn:aws:sns:eu-west-1:999999999999:mail'
  await assert.rejects(receiver.receive(sns.message({ ...confirmation, TopicArn })), isRefused)
  assert.ok(!sns.asked.includes(SUBSCRIBE_URL))
})

test('a failed confirmation is fetched again', async (t) => {
  let status = 500
  const { receiver, sns, sender } = await openCounter(t, {
    publicFetch: async (url) => {
      if (url.pathname.endsWith('.pem')) return shared.publicFetch(url)
      return { ok: true, status, body: Buffer.alloc(0) }
    },
  })
  const message = sns.message(confirmation)
  await assert.rejects(receiver.receive(message), { code: 'EXTERNAL_SERVICE_ERROR', status: 503 })
  assert.equal(await sender.core.store.read.$count(snsNotifications), 0)
  status = 200
  await receiver.receive(message)
})

test('the end of a subscription is acknowledged', async (t) => {
  const { receiver, sns } = await openCounter(t)
  await receiver.receive(sns.message({ ...confirmation, Type: 'UnsubscribeConfirmation' }))
  assert.deepEqual(sns.asked, [CERTIFICATE_URL])
})

// Received mail.

const raw = 'From: Ada <ada@dest.test>\r\nTo: info@example.test\r\nSubject: Hi\r\n\r\nHello'
const receivedEvent = (recipients: string[], change: Record<string, unknown> = {}) =>
  JSON.stringify({
    notificationType: 'Received',
    mail: {
      messageId: 'inbound-id',
      source: 'ada@dest.test',
      destination: recipients,
      headers: [
        { name: 'Received-SPF', value: 'pass client-ip=198.51.100.7; helo=mx.dest.test;' },
        { name: 'Subject', value: 'Hi' },
      ],
    },
    receipt: { recipients, action: { type: 'SNS', encoding: 'BASE64' } },
    content: Buffer.from(raw).toString('base64'),
    ...change,
  })

test('received mail is processed like mail by SMTP, for domains of this server only', async (t) => {
  const counter = await openCounter(t)
  const { sender, receiver, sns } = counter
  let notifications = 0
  sender.core.inboundNotifier.listen(() => {
    notifications += 1
  })
  const recipients = ['Info@example.test', 'info@example.test', 'someone@elsewhere.test', 'junk']
  const message = sns.message({ Message: receivedEvent(recipients) })
  await receiver.receive(message)
  await receiver.receive(message)
  const rows = await sender.core.store.read.select().from(inboundMessages).all()
  assert.equal(rows.length, 1)
  assert.equal(notifications, 1)
  const [row] = rows
  assert.deepEqual(row?.recipients, [
    { for: 'mailbox', address: 'info@example.test', projectId: sender.project.id },
  ])
  assert.deepEqual(
    [row?.state, row?.reversePath, row?.clientAddress, row?.clientName],
    ['pending', 'ada@dest.test', '198.51.100.7', 'mx.dest.test'],
  )
  assert.ok(row?.raw?.toString().endsWith(raw))
})

test('received mail for other domains is acknowledged and not stored', async (t) => {
  const counter = await openCounter(t)
  await post(counter, receivedEvent(['someone@elsewhere.test', `b.token@bounce.example.test`]))
  assert.equal(await counter.sender.core.store.read.$count(inboundMessages), 0)
})

test('received mail to an unsubscribe address that this server signed is stored, at any domain', async (t) => {
  const counter = await openCounter(t)
  const { core } = counter.sender
  const emailId = newId()
  const localPart = createUnsubscribeLocalPart(core.keyring.keys('mail-in-unsubscribe')[0], emailId)
  const address = `${localPart}@bounce.former.test`
  await post(counter, receivedEvent([address]))
  const [row] = await core.store.read.select().from(inboundMessages).all()
  assert.deepEqual(row?.recipients, [{ for: 'unsubscribe', address, emailId }])
})

test('received mail without its content is stored with its header section', async (t) => {
  const counter = await openCounter(t)
  await post(counter, receivedEvent(['info@example.test'], { content: undefined }))
  const [row] = await counter.sender.core.store.read.select().from(inboundMessages).all()
  assert.ok(row?.raw?.toString().endsWith('Subject: Hi\r\n\r\n'))
})

test('mail inserted in a transaction that fails is not stored', async (t) => {
  const { sender } = await openCounter(t)
  const message = {
    reversePath: '',
    recipients: [],
    clientAddress: '',
    clientName: '',
    protocol: 'HTTP',
    tls: null,
    content: [Buffer.from(raw)],
  }
  const failing = sender.core.store.write(async (tx) => {
    await insertInboundMessage(sender.core, tx, message)
    throw new Error('no')
  })
  await assert.rejects(failing, /no/)
  assert.equal(await sender.core.store.read.$count(inboundMessages), 0)
})

// Housekeeping.

test('ids are deleted once their message would be too old to be trusted', async (t) => {
  const { sender } = await openCounter(t)
  const { store } = sender.core
  await store.write(async (tx) => {
    await tx.insert(snsNotifications).values([
      { id: 'old', receivedAt: START - 3 * DAY_MS },
      { id: 'new', receivedAt: START - 3 * DAY_MS + 1 },
    ])
  })
  await deleteExpired(sender.core, NOTIFICATIONS)
  const rows = await store.read.select().from(snsNotifications).all()
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['new'],
  )
})

test('emails are looked up through the two indexes made for it', async (t) => {
  const { sender } = await openCounter(t)
  const planOf = async (text: string) => {
    const rows = await sender.core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    return rows.map(({ detail }) => detail).join('; ')
  }
  assert.match(
    await planOf(findReportedByProviderId.compiled().text),
    /emails_provider \(provider_id=\?\)/,
  )
  assert.match(
    await planOf(findReportedByMessageId.compiled().text),
    /emails_custom_message_id \(message_id=\?\)/,
  )
})
