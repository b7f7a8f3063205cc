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

test('a feedback report that is not a complaint has no effect and is ordinary mail', async (t) => {
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

test('a feedback report of type opt-out unsubscribes and does not suppress', async (t) => {
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

test('a repeated complaint raises no event and is not delivered as mail', async (t) => {
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

test('an email with a complaint was delivered, and its earlier error is cleared', async (t) => {
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
