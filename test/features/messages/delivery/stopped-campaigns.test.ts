import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDeliverer } from '../../../../src/features/messages/delivery/deliverer.ts'
import { cancelEmails, retryEmails } from '../../../../src/features/messages/queue/operate.ts'
import { startQueue } from '../../../../src/features/messages/queue/queue.ts'
import { countQueue, listQueue } from '../../../../src/features/messages/queue/queue-list.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import type { Email } from '../../../../src/store/schema/messages.ts'
import { START } from '../../../core.ts'
import { addCampaign, giveToCampaign, type NewCampaign } from '../../campaigns/add-campaign.ts'
import { openSender, type Sender } from '../sender.ts'

/** Sends one email of a campaign before the queue starts. */
async function sendOf(
  sender: Sender,
  campaign: Partial<NewCampaign>,
  changes: Partial<Email> = {},
): Promise<string> {
  const { emails: accepted } = await sender.send()
  const id = accepted[0]?.email as string
  const campaignId = await addCampaign(sender.core, { projectId: sender.project.id, ...campaign })
  await setSubscribed(sender, true)
  await giveToCampaign(sender.core, id, { campaignId, contentClass: 'MARKETING', ...changes })
  return id
}

/** Runs the queue until the email is no longer waiting. */
async function afterClaim(t: TestContext, sender: Sender, id: string): Promise<Email> {
  const delivery = createDeliverer(sender.core)
  const queue = startQueue(sender.core, delivery)
  t.after(() => queue.stop())
  for (;;) {
    const email = await sender.email(id)
    const isDecided = !['queued', 'sending'].includes(email.state) || sender.tasks.length > 0
    if (isDecided) return email
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const setSubscribed = ({ core }: Sender, subscribed: boolean) =>
  core.store.write(async (tx) => void (await tx.update(contacts).set({ subscribed })))

const loseDomain = ({ core }: Sender) =>
  core.store.write(async (tx) => {
    await tx.update(domains).set({ isVerified: false }).where(eq(domains.domain, 'example.test'))
    tx.afterCommit(() => core.directory.drop())
  })

test('a claimed email of a paused campaign is put aside, without an attempt', async (t) => {
  const sender = await openSender(t)
  let notices = 0
  sender.core.campaignNotifier.listen(() => (notices += 1))
  const id = await sendOf(sender, { pausedAt: START, pauseReason: 'manual' })
  const email = await afterClaim(t, sender, id)
  const { state, status, dueAt, heldAt, attemptCount, leaseUntil } = email
  assert.deepEqual(
    { state, status, dueAt, heldAt, attemptCount, leaseUntil },
    {
      state: 'paused',
      status: 'PENDING',
      dueAt: null,
      heldAt: START,
      attemptCount: 0,
      leaseUntil: null,
    },
  )
  assert.equal(sender.tasks.length, 0)
  assert.equal(notices, 1)
  assert.deepEqual(await countQueue(sender.core), [{ state: 'paused', count: 1 }])
  const listed = await listQueue(sender.core, { state: 'paused' })
  assert.deepEqual(
    listed.map((one) => one.id),
    [id],
  )
})

test('an email that its campaign has paused can be cancelled, and not retried', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, { pausedAt: START, pauseReason: 'manual' })
  await afterClaim(t, sender, id)
  await assert.rejects(retryEmails(sender.core, [id]), { code: 'CONFLICT' })
  await cancelEmails(sender.core, [id])
  const { state, error } = await sender.email(id)
  assert.deepEqual({ state, error }, { state: 'failed', error: 'cancelled' })
})

test('a claimed email of a cancelled campaign ends, and cannot be retried', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, { status: 'CANCELLED', cancelledAt: START })
  const { state, status, error } = await afterClaim(t, sender, id)
  assert.deepEqual(
    { state, status, error },
    { state: 'failed', status: 'FAILED', error: 'cancelled' },
  )
  assert.equal(sender.tasks.length, 0)
  await assert.rejects(retryEmails(sender.core, [id]), { code: 'CONFLICT' })
})

test('an email whose campaign has lost its sender domain waits, and does not fail', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {})
  await loseDomain(sender)
  assert.equal((await afterClaim(t, sender, id)).state, 'paused')
})

test('headless mail of a campaign does not go to an unsubscribed contact', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {}, { contentClass: 'HEADLESS' })
  await setSubscribed(sender, false)
  const { state, error } = await afterClaim(t, sender, id)
  assert.deepEqual({ state, error }, { state: 'failed', error: 'the contact has unsubscribed' })
})

test('a test of a campaign goes to an unsubscribed contact', async (t) => {
  const sender = await openSender(t)
  const id = await sendOf(sender, {}, { isTest: true })
  await setSubscribed(sender, false)
  await afterClaim(t, sender, id)
  assert.equal(sender.tasks[0]?.emailId, id)
  assert.equal(sender.tasks[0]?.source.isBulk, true)
})
