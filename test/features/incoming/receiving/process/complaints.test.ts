import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createReturnPathLocalPart } from '../../../../../src/formats/signed-tokens.ts'
import { buildArf, buildDsn, openReceiver, type Receiver, shareReader } from '../receiver.ts'

const shared = shareReader()

function complaint({ core }: Receiver, emailId: string, feedbackType: string): string {
  const [key] = core.keyring.keys('return-path')
  const mark = `X-Pillarbox-Id: ${createReturnPathLocalPart(key, emailId).slice(2)}`
  return buildArf([mark]).replace('Feedback-Type: abuse', `Feedback-Type: ${feedbackType}`)
}

test('a feedback report that is not a complaint has no effect and is ordinary mail', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  await receiver.subscribe()
  const to = [receiver.mailbox('dmarc@example.test')]
  for (const type of ['not-spam', 'auth-failure', 'virus']) {
    const row = await receiver.receive({
      to,
      raw: complaint(receiver, id, type),
      from: 'fbl@dest.test',
    })
    const { id: emailId } = await receiver.latestEmail()
    assert.deepEqual(row.summary?.acts, [
      { did: 'ignored', why: `feedback: ${type}`, emailId: id },
      { did: 'received', emailId },
    ])
  }
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, true)
  assert.deepEqual(await receiver.list(), [])
  const names = (await receiver.listEvents()).map(({ name }) => name)
  assert.deepEqual(names, ['email.received', 'email.received', 'email.received'])
})

test('a feedback report of type opt-out unsubscribes and does not suppress', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  await receiver.subscribe()
  const raw = complaint(receiver, id, 'opt-out')
  const row = await receiver.receive({ to: [receiver.returnPath(id)], raw, from: 'fbl@dest.test' })
  assert.deepEqual(row.summary?.acts, [{ did: 'unsubscribed', emailId: id }])
  assert.equal((await receiver.contact('ada@dest.test'))?.subscribed, false)
  assert.equal((await receiver.email(id)).status, 'DELIVERED')
  assert.deepEqual(await receiver.list(), [])
})

test('a repeated complaint raises no event and is not delivered as mail', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const to = [receiver.mailbox('abuse@example.test')]
  const raw = complaint(receiver, id, 'abuse')
  await receiver.receive({ to, raw, from: 'fbl@dest.test' })
  const before = await receiver.listEvents()
  const row = await receiver.receive({ to, raw, from: 'fbl@dest.test' })
  assert.deepEqual(row.summary?.acts, [{ did: 'ignored', why: 'already known', emailId: id }])
  assert.deepEqual(await receiver.listEvents(), before)
  assert.equal((await receiver.counts()).emails, 1)
})

test('an email with a complaint was delivered, and its earlier error is cleared', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver({
    ...{ state: 'deferred', status: 'PENDING', deliveredAt: null, error: '451 later' },
  })
  const to = [receiver.mailbox('abuse@example.test')]
  await receiver.receive({ to, raw: complaint(receiver, id, 'abuse'), from: 'fbl@dest.test' })
  const { state, status, error } = await receiver.email(id)
  assert.deepEqual(
    { state, status, error },
    { state: 'delivered', status: 'COMPLAINED', error: null },
  )
})

test('a bounce that comes behind a complaint changes nothing, also when both are applied together', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const to = [receiver.returnPath(id)]
  const [complained, bounced] = await Promise.all([
    receiver.receive({ to, raw: complaint(receiver, id, 'abuse'), from: 'fbl@dest.test' }),
    receiver.receive({ to, raw: buildDsn() }),
  ])
  assert.deepEqual(complained.summary?.acts, [{ did: 'complained', emailId: id }])
  assert.deepEqual(bounced.summary?.acts, [{ did: 'ignored', why: 'already known', emailId: id }])
  assert.equal((await receiver.email(id)).status, 'COMPLAINED')
})
