import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReturnPathLocalPart } from '../../../../src/mail/signed-tokens.ts'
import { arf, openReceiver, type Receiver, shareReader } from '../receiver.ts'

const shared = shareReader()

function complaint({ core }: Receiver, emailId: string, feedbackType: string): string {
  const [key] = core.keyring.keys('return-path')
  const mark = `X-Pillarbox-Id: ${createReturnPathLocalPart(key, emailId).slice(2)}`
  return arf([mark]).replace('Feedback-Type: abuse', `Feedback-Type: ${feedbackType}`)
}

test('a feedback report that is no complaint harms nobody and is mail like any other', async (t) => {
  const box = await openReceiver(t, shared)
  const id = await box.deliver()
  await box.subscribe()
  const to = [box.mailbox('dmarc@example.test')]
  for (const type of ['not-spam', 'auth-failure', 'virus']) {
    const row = await box.arrive({ to, raw: complaint(box, id, type), from: 'fbl@dest.test' })
    const { id: emailId } = await box.latest()
    assert.deepEqual(row.summary?.acts, [
      { did: 'ignored', why: `feedback: ${type}`, emailId: id },
      { did: 'received', emailId },
    ])
  }
  assert.equal((await box.email(id)).status, 'DELIVERED')
  assert.equal((await box.contact('ada@dest.test'))?.subscribed, true)
  assert.deepEqual(await box.list(), [])
  const names = (await box.told()).map(({ name }) => name)
  assert.deepEqual(names, ['email.received', 'email.received', 'email.received'])
})

test('a feedback report of who wants off the list unsubscribes, and suppresses nobody', async (t) => {
  const box = await openReceiver(t, shared)
  const id = await box.deliver()
  await box.subscribe()
  const raw = complaint(box, id, 'opt-out')
  const row = await box.arrive({ to: [box.returnPath(id)], raw, from: 'fbl@dest.test' })
  assert.deepEqual(row.summary?.acts, [{ did: 'unsubscribed', emailId: id }])
  assert.equal((await box.contact('ada@dest.test'))?.subscribed, false)
  assert.equal((await box.email(id)).status, 'DELIVERED')
  assert.deepEqual(await box.list(), [])
})

test('a complaint that comes again is no news, and no mail either', async (t) => {
  const box = await openReceiver(t, shared)
  const id = await box.deliver()
  const to = [box.mailbox('abuse@example.test')]
  const raw = complaint(box, id, 'abuse')
  await box.arrive({ to, raw, from: 'fbl@dest.test' })
  const before = await box.told()
  const row = await box.arrive({ to, raw, from: 'fbl@dest.test' })
  assert.deepEqual(row.summary?.acts, [{ did: 'ignored', why: 'already known', emailId: id }])
  assert.deepEqual(await box.told(), before)
  assert.equal((await box.counts()).emails, 1)
})

test('what was complained of has arrived, and an error of its queue time is none any more', async (t) => {
  const box = await openReceiver(t, shared)
  const id = await box.deliver({
    ...{ state: 'deferred', status: 'PENDING', deliveredAt: null, error: '451 later' },
  })
  const to = [box.mailbox('abuse@example.test')]
  await box.arrive({ to, raw: complaint(box, id, 'abuse'), from: 'fbl@dest.test' })
  const { state, status, error } = await box.email(id)
  assert.deepEqual(
    { state, status, error },
    { state: 'delivered', status: 'COMPLAINED', error: null },
  )
})
