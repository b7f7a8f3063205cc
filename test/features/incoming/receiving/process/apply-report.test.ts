import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { deleteAddresses } from '../../../../../src/features/mail/suppressions/suppressions.ts'
import { createReturnPathLocalPart } from '../../../../../src/formats/signed-tokens.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { inboundMessages } from '../../../../../src/store/schema/inbound.ts'
import type { InboundRecipient } from '../../../../../src/store/schema/json-values.ts'
import { attempts, emails } from '../../../../../src/store/schema/messages.ts'
import { strikes } from '../../../../../src/store/schema/suppressions.ts'
import { wishes } from '../../../../../src/store/schema/wishes.ts'
import { address } from '../../../../core.ts'
import {
  buildArf,
  buildDsn,
  buildMessage,
  openReceiver,
  type Receiver,
  shareReader,
} from '../receiver.ts'

const shared = shareReader()

/** X-Pillarbox-Id of an email. */
const mark = ({ core }: Receiver, emailId: string, change = (token: string) => token) => {
  const [key] = core.keyring.keys('return-path')
  return `X-Pillarbox-Id: ${change(createReturnPathLocalPart(key, emailId).slice(2))}`
}

test('a DSN at a return path bounces its email and suppresses the address', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  await receiver.subscribe()
  const row = await receiver.receive({ to: [receiver.returnPath(id)], raw: buildDsn() })
  assert.equal(row.state, 'processed')
  assert.equal(row.kind, 'bounce')
  assert.equal(row.raw, null)
  assert.equal(row.attempts, 0)
  assert.deepEqual(row.summary, { report: 'bounce', acts: [{ did: 'bounced', emailId: id }] })
  assert.match(row.sender ?? '', /^MAILER-DAEMON@mx\.dest\.test/)
  const email = await receiver.email(id)
  assert.equal(email.status, 'BOUNCED')
  assert.match(email.error ?? '', /user unknown/)
  assert.deepEqual(
    (await receiver.list()).map(({ address, reason }) => [address, reason]),
    [['ada@dest.test', 'HARD_BOUNCE']],
  )
  assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, false)
  assert.deepEqual(
    (await receiver.listEvents()).map(({ name }) => name),
    ['email.bounce', 'contact.unsubscribed'],
  )
})

test('the same DSN again changes nothing', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const to = [receiver.returnPath(id)]
  await receiver.receive({ to, raw: buildDsn() })
  const before = await receiver.listEvents()
  const again = await receiver.receive({ to, raw: buildDsn() })
  assert.deepEqual(again.summary?.acts, [{ did: 'ignored', why: 'already known', emailId: id }])
  assert.deepEqual(await receiver.listEvents(), before)
})

test('a suppressed address gets no mail until its suppression is deleted', async (t) => {
  const receiver = await openReceiver(t, shared)
  await receiver.receive({ to: [receiver.returnPath(await receiver.deliver())], raw: buildDsn() })
  const [refused] = (await receiver.send()).emails
  assert.equal((await receiver.email(refused?.email ?? '')).status, 'SUPPRESSED')
  const list = { projectId: receiver.project.id, addresses: [address('ada@dest.test')] }
  assert.equal(await deleteAddresses(receiver.core, list), 1)
  const [taken] = (await receiver.send()).emails
  assert.equal((await receiver.email(taken?.email ?? '')).status, 'PENDING')
})

test('delayed, relayed and delivered reports have their own effects only', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver({ state: 'relayed', status: 'SENT', deliveredAt: null })
  const to = [receiver.returnPath(id)]
  await receiver.receive({ to, raw: buildDsn({ action: 'delayed', status: '4.4.1' }) })
  assert.equal((await receiver.email(id)).status, 'SENT')
  await receiver.receive({
    to,
    raw: buildDsn({ action: 'relayed', status: '2.0.0', diagnostic: '250 Ok' }),
  })
  assert.equal((await receiver.email(id)).status, 'SENT')
  await receiver.receive({
    to,
    raw: buildDsn({ action: 'delivered', status: '2.0.0', diagnostic: '250 Ok' }),
  })
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  assert.deepEqual(await receiver.list(), [])
  const raised = await receiver.listEvents()
  assert.deepEqual(
    raised.map(({ name }) => name),
    ['email.bounce', 'email.delivery'],
  )
  assert.equal(raised[0]?.data?.transientBounce, true)
})

test('S13: a bounce for another address than the recipient is a strike, never a suppression', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  await receiver.receive({
    to: [receiver.returnPath(id)],
    raw: buildDsn({ recipient: 'victim@elsewhere.test' }),
  })
  assert.equal((await receiver.email(id)).status, 'BOUNCED')
  assert.deepEqual(await receiver.list(), [])
  assert.equal(await receiver.core.store.read.$count(strikes), 1)
  const [event] = await receiver.listEvents()
  assert.equal(event?.data?.bounceType, 'Undetermined')
})

test('the original recipient of a forward counts when the local part is the same', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const raw = buildDsn({ recipient: 'ada@inner.test', originalRecipient: 'ADA@dest.test' })
  await receiver.receive({ to: [receiver.returnPath(id)], raw })
  assert.equal((await receiver.list()).length, 1)
})

const behindAliases = {
  'of Postfix, by its fields': buildDsn({
    ...{ recipient: 'eve@dest.test', originalRecipient: 'ada@dest.test' },
  }),
  'of Postfix, by its prose': buildDsn({
    ...{
      recipient: 'eve@dest.test',
      prose: '<eve@dest.test> (expanded from\r\n    <ada@dest.test>): no',
    },
  }),
  'of Exim': buildDsn({
    prose: '  eve@else.test\r\n    (generated from ADA@dest.test)\r\n    550 5.1.1 User unknown',
  }),
  'of Exim, through several': buildDsn({
    prose: '  eve@else.test\r\n    (ultimately generated from ada@dest.test)\r\n    Unknown user',
  }),
  'of Sendmail': buildDsn({
    prose:
      'eve@else.test\r\n    (reason: 550 5.1.1 unknown)\r\n    (expanded from: <ada@dest.test>)',
  }),
}
for (const [whose, raw] of Object.entries(behindAliases)) {
  test(`a bounce for an address behind an alias ${whose} is a strike of the alias`, async (t) => {
    const receiver = await openReceiver(t, shared)
    const [id, other] = [await receiver.deliver(), await receiver.deliver()]
    await receiver.receive({ to: [receiver.returnPath(id)], raw })
    // The same to the From field: it is known by the mark of what comes back.
    const marked = raw.replace('Subject: Hello', `${mark(receiver, other)}\r\nSubject: Hello`)
    await receiver.receive({ to: [receiver.mailbox()], raw: marked })
    for (const bounced of [id, other])
      assert.equal((await receiver.email(bounced)).status, 'BOUNCED')
    assert.deepEqual(await receiver.list(), [])
    assert.equal(await receiver.core.store.read.$count(strikes), 2)
    const types = (await receiver.listEvents()).map(({ data }) => data?.bounceType)
    assert.deepEqual(types, ['Undetermined', 'Undetermined'])
  })
}

test('among several recipients in a report, the recipient of the email counts', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const group = 'Final-Recipient: rfc822; eve@dest.test\r\nAction: failed\r\nStatus: 5.1.1'
  const raw = buildDsn({ action: 'delivered', status: '2.0.0', diagnostic: '250 Ok' })
  const two = raw.replace('Final-Recipient', `${group}\r\n\r\nFinal-Recipient`)
  await receiver.receive({ to: [receiver.returnPath(id)], raw: two })
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
})

test('S13: a report to the return path of one email about another email is ignored', async (t) => {
  const receiver = await openReceiver(t, shared)
  const [id, other] = [await receiver.deliver(), await receiver.deliver()]
  const raw = buildDsn({ returned: [mark(receiver, other)] })
  const row = await receiver.receive({ to: [receiver.returnPath(id)], raw })
  assert.deepEqual(row.summary?.acts, [{ did: 'ignored', why: 'about another email', emailId: id }])
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  assert.equal((await receiver.email(other)).status, 'DELIVERED')
  assert.deepEqual(await receiver.listEvents(), [])
  assert.deepEqual(receiver.logged, ['received mail was ignored'])
})

test('S13: a return path older than 30 days is ignored and logged', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  receiver.clock.now = Date.now() + 31 * DAY_MS
  const row = await receiver.receive({ to: [receiver.returnPath(id)], raw: buildDsn() })
  assert.equal(row.kind, 'bounce')
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  assert.deepEqual(await receiver.list(), [])
  assert.deepEqual(receiver.logged, ['received mail was ignored'])
})

test('S13: a complaint counts only by a signed token in the returned message', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  await receiver.subscribe()
  const forged = [
    buildArf(),
    buildArf([
      mark(receiver, id, (token) => token.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'))),
    ]),
    // In the header section of the report itself: its writer chose it.
    `${mark(receiver, id)}\r\n${buildArf()}`,
  ]
  for (const raw of forged) {
    const row = await receiver.receive({
      to: [receiver.mailbox('fbl@example.test')],
      raw,
      from: 'a@b.test',
    })
    assert.equal(row.kind, 'complaint')
  }
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  assert.deepEqual(await receiver.list(), [])
  const server = { for: 'server', address: 'abuse@mx.example.test' } as const
  const row = await receiver.receive({ to: [server], raw: buildArf([mark(receiver, id)]) })
  assert.deepEqual(row.summary?.acts, [{ did: 'complained', emailId: id }])
  assert.notEqual(row.raw, null)
  assert.equal((await receiver.email(id)).status, 'COMPLAINED')
  assert.equal((await receiver.list())[0]?.reason, 'COMPLAINT')
  assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, false)
})

const COMPLAINT_WAYS: Record<string, (receiver: Receiver, id: string) => InboundRecipient> = {
  'to the return path': (receiver, id) => receiver.returnPath(id),
  'to a mailbox': (receiver) => receiver.mailbox('fbl@example.test'),
  'to the operator': () => ({ for: 'server', address: 'abuse@mx.example.test' }),
}

for (const [way, toOf] of Object.entries(COMPLAINT_WAYS)) {
  for (const isDeleted of [false, true]) {
    const what = isDeleted ? 'of a deleted email' : 'of an email'
    test(`S13: a signed complaint ${way} is a wish at any age ${what}`, async (t) => {
      const receiver = await openReceiver(t, shared)
      const { store, keyring } = receiver.core
      const id = await receiver.deliver()
      await receiver.subscribe()
      if (isDeleted) await store.write((tx) => tx.delete(emails).where(eq(emails.id, id)).run())
      receiver.clock.now = Date.now() + 399 * DAY_MS
      const digest = keyring.addressDigest(receiver.project.id, 'ada@dest.test')
      const token = createReturnPathLocalPart(keyring.keys('return-path')[0], id, digest).slice(2)
      const raw = buildArf([`X-Pillarbox-Id: ${token}`])
      const row = await receiver.receive({ to: [toOf(receiver, id)], raw, from: 'fbl@dest.test' })
      const did = isDeleted ? 'unsubscribed' : 'complained'
      const acts = row.summary?.acts as unknown[] | undefined
      assert.deepEqual(acts?.[0], { did, emailId: id })
      const { digest: kept, kind } = (await store.read.select().from(wishes).get()) ?? {}
      assert.deepEqual([kept, kind], [digest, 'complaint'])
      assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, isDeleted)
      assert.equal((await receiver.list()).length, isDeleted ? 0 : 1)
    })
  }
}

test('a DSN to the From address applies by the token of the returned message, to its recipient only', async (t) => {
  const receiver = await openReceiver(t, shared)
  const [id, other] = [await receiver.deliver(), await receiver.deliver()]
  const to = [receiver.mailbox('shop@example.test')]
  await receiver.receive({
    to,
    raw: buildDsn({ recipient: 'eve@else.test', returned: [mark(receiver, other)] }),
  })
  assert.equal((await receiver.email(other)).status, 'DELIVERED')
  const row = await receiver.receive({ to, raw: buildDsn({ returned: [mark(receiver, id)] }) })
  assert.deepEqual(row.summary?.acts, [{ did: 'bounced', emailId: id }])
  assert.equal((await receiver.email(id)).status, 'BOUNCED')
})

test('an automatic reply or ordinary mail to a return path is recorded and has no effect', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const to = [receiver.returnPath(id)]
  const vacation = buildMessage({ 'Auto-Submitted': 'auto-replied', Subject: 'Out of office' })
  const reply = await receiver.receive({ to, raw: vacation, from: 'ada@dest.test' })
  assert.equal(reply.kind, 'auto-reply')
  assert.equal(reply.raw, null)
  const mail = await receiver.receive({ to, raw: buildMessage({}), from: 'ada@dest.test' })
  assert.equal(mail.kind, 'other')
  assert.notEqual(mail.raw, null)
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  assert.deepEqual(await receiver.listEvents(), [])
  assert.equal((await receiver.counts()).emails, 1)
})

test('mail for the operator is stored whole and becomes no email of a project', async (t) => {
  const receiver = await openReceiver(t, shared)
  const to = [{ for: 'server', address: 'postmaster' } as const]
  const row = await receiver.receive({
    to,
    raw: buildMessage({ Subject: '=?utf-8?q?Gr=C3=BC=C3=9Fe?=' }),
  })
  assert.equal(row.kind, 'mail')
  assert.equal(row.subject, 'Grüße')
  assert.match(row.raw?.toString() ?? '', /Hello/)
  assert.equal((await receiver.counts()).emails, 0)
})

test('mail to an unsubscribe address unsubscribes once, for an email of any age', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver({ campaignId: '0193f6a0-0000-7000-8000-00000000000c' })
  await receiver.subscribe()
  receiver.clock.now = Date.now() + 400 * DAY_MS
  const to = [receiver.unsubscribeAddress(id)]
  const raw = buildMessage({ From: 'ada@dest.test', Subject: 'please no more' }, '')
  const row = await receiver.receive({ to, raw, from: 'ada@dest.test' })
  assert.equal(row.kind, 'unsubscribe')
  assert.equal(row.raw, null)
  assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, false)
  const campaignId = '0193f6a0-0000-7000-8000-00000000000c'
  assert.deepEqual(await receiver.listEvents(), [
    { name: 'contact.unsubscribed', emailId: id, data: { reason: 'mail', campaignId } },
  ])
  await receiver.receive({ to, raw, from: 'ada@dest.test' })
  assert.equal((await receiver.listEvents()).length, 1)
  assert.deepEqual(await receiver.list(), [])
})

test('S11: bounces and vacation replies to an unsubscribe address do not unsubscribe', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  await receiver.subscribe()
  const to = [receiver.unsubscribeAddress(id)]
  const machines = [
    { raw: buildDsn(), from: '' },
    { raw: buildDsn(), from: 'mailer-daemon@dest.test' },
    { raw: buildMessage({ Subject: 'unsubscribe' }), from: '' },
    {
      raw: buildMessage({ 'Auto-Submitted': 'auto-replied', Subject: 'Out of office' }),
      from: 'a@b.test',
    },
    {
      raw: buildMessage({
        ...{ 'Auto-Submitted': 'auto-replied', Subject: 'unsubscribe' },
        'In-Reply-To': '<x@y.test>',
      }),
      from: 'a@b.test',
    },
  ]
  for (const machine of machines) await receiver.receive({ to, ...machine })
  assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, true)
  assert.deepEqual(await receiver.listEvents(), [])
})

test('the unsubscribe mail of a mail program unsubscribes its reader', async (t) => {
  const receiver = await openReceiver(t, shared)
  const fields = {
    Subject: 'unsubscribe',
    'Auto-Submitted': 'auto-replied',
    'Message-ID': '<1@i.test>',
  }
  for (const marked of [fields, { ...fields, 'X-Apple-Unsubscribe': 'true' }]) {
    const id = await receiver.deliver()
    await receiver.subscribe()
    const raw = buildMessage(marked)
    const row = await receiver.receive({
      to: [receiver.unsubscribeAddress(id)],
      raw,
      from: 'ada@dest.test',
    })
    assert.equal(row.kind, 'unsubscribe')
    assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, false)
  }
  assert.deepEqual(await receiver.list(), [])
})

test('S11: received mail never gets a reply', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const to = [receiver.returnPath(id), receiver.unsubscribeAddress(id), receiver.mailbox()]
  const from = 'eve@else.test'
  for (const raw of [
    buildDsn(),
    buildArf([mark(receiver, id)]),
    buildMessage({}),
    '',
    buildMessage({ 'List-Id': 'x' }),
  ]) {
    await receiver.receive({ to, raw, from })
    await receiver.receive({ to, raw })
  }
  const rows = await receiver.core.store.read.select().from(emails).all()
  const waiting = rows.filter(({ state, dueAt }) => dueAt !== null || state === 'queued')
  assert.deepEqual(waiting, [])
  assert.equal(await receiver.core.store.read.$count(inboundMessages), 10)
})

test("a DSN's code, text, final address and, without a quoted reply, status are stored", async (t) => {
  const receiver = await openReceiver(t, shared)
  const quoted = await receiver.deliver()
  const raw = buildDsn({
    recipient: 'ada.l@forward.test',
    originalRecipient: 'ada@dest.test',
    diagnostic: '550 5.1.1 <ada.l@forward.test>: user unknown',
  })
  await receiver.receive({ to: [receiver.returnPath(quoted)], raw })
  const bare = await receiver.deliver()
  await receiver.receive({
    to: [receiver.returnPath(bare)],
    raw: buildDsn({ status: '5.2.2', diagnostic: 'mailbox is full' }),
  })
  const rows = await receiver.core.store.read.select().from(attempts).all()
  assert.deepEqual(
    rows.map(({ replyCode, enhancedCode, replyText, finalRecipient }) => ({
      ...{ replyCode, enhancedCode, replyText, finalRecipient },
    })),
    [
      {
        ...{ replyCode: 550, enhancedCode: '5.1.1' },
        replyText: '<ada.l@forward.test>: user unknown',
        finalRecipient: 'ada.l@forward.test',
      },
      {
        ...{ replyCode: null, enhancedCode: '5.2.2' },
        replyText: 'mailbox is full',
        finalRecipient: 'ada@dest.test',
      },
    ],
  )
})
