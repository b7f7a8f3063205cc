import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createDeliverer } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { recordReports } from '../../../../../src/features/mail/messages/outcome/record-reports.ts'
import { retryEmails } from '../../../../../src/features/mail/messages/queue/operate.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import { renderMessage } from '../../../../../src/formats/compose/build-message.ts'
import { createTemplateCache } from '../../../../../src/formats/precomposed/template-cache.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { address } from '../../../../core.ts'
import { testTracker } from '../../../../formats/tracker.ts'
import { pause } from '../../../../pause.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openSender, type Sender } from '../sender.ts'
import { acceptWorkflowEmail, addContact, emailFor, planOf } from '../workflow-mail.ts'

const change = ({ core }: Sender, changes: Partial<typeof contacts.$inferInsert>) =>
  core.store.write(async (tx) => void (await tx.update(contacts).set(changes)))

async function runQueue(t: TestContext, sender: Sender, ids: readonly string[]): Promise<void> {
  const queue = startQueue(sender.core, createDeliverer(sender.core))
  t.after(() => queue.stop())
  const isClaimed = async (id: string) => {
    const { state } = await sender.email(id)
    return state === 'failed' || sender.tasks.some(({ emailId }) => emailId === id)
  }
  for (const id of ids) {
    while (!(await isClaimed(id))) await pause()
  }
}

for (const type of ['MARKETING', 'HEADLESS'] as const) {
  test(`${type} mail of a workflow is not sent to a contact that unsubscribed meanwhile`, async (t) => {
    const sender = await openSender(t)
    const contact = await addContact(sender)
    const plan = await planOf(sender, { type })
    const own = await acceptWorkflowEmail(sender, emailFor(plan, contact))
    await change(sender, { subscribed: false })
    await runQueue(t, sender, [own.id])
    const { state, error } = await sender.email(own.id)
    assert.deepEqual([state, error], ['failed', 'the contact has unsubscribed'])
    assert.equal(sender.tasks.length, 0)
  })
}

test('mail about a contact that unsubscribed goes to another address, rendered as the contact', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender)
  const recipient = address('sales@shop.test')
  const plan = await planOf(sender)
  const { id } = await acceptWorkflowEmail(sender, emailFor(plan, contact, { recipient }))
  await change(sender, { subscribed: false })
  await runQueue(t, sender, [id])
  const [task] = sender.tasks
  assert.equal(task?.recipient, 'sales@shop.test')
  assert.equal(task?.queueClass, 5)
  assert.equal(task?.source.variables.system.email, 'ada@dest.test')
})

test('mail to an address that a step names is sent to the contact if that is the contact\u2019s', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender)
  const plan = await planOf(sender)
  const named = { bypassesSubscription: true }
  const { id } = await acceptWorkflowEmail(sender, emailFor(plan, contact, named))
  await change(sender, { subscribed: false })
  await runQueue(t, sender, [id])
  assert.equal(sender.tasks[0]?.recipient, contact.address)
})

test('a complaint by the contact unsubscribes it, also about mail to an address that a step names', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const contact = await addContact(sender)
  const plan = await planOf(sender)
  const named = { bypassesSubscription: true }
  const { id: emailId } = await acceptWorkflowEmail(sender, emailFor(plan, contact, named))
  await core.store.write(async (tx) => {
    await setEmails(tx, { state: 'delivered', status: 'DELIVERED', dueAt: null, sentAt: 1 })
  })
  await core.store.write((tx) =>
    recordReports(core, tx, [{ type: 'complaint', emailId, feedbackType: null }]),
  )
  assert.equal((await core.store.read.select().from(contacts).get())?.subscribed, false)
})

test('a new address of an unsubscribed contact does not make its mail another\u2019s', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender)
  const { id } = await acceptWorkflowEmail(sender, emailFor(await planOf(sender), contact))
  await change(sender, { subscribed: false, address: 'ada@new.test' })
  await runQueue(t, sender, [id])
  assert.equal((await sender.email(id)).error, 'the contact has unsubscribed')
})

test('a retry follows the same rules', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const contact = await addContact(sender)
  const plan = await planOf(sender)
  const own = await acceptWorkflowEmail(sender, emailFor(plan, contact))
  const recipient = address('sales@shop.test')
  const other = await acceptWorkflowEmail(sender, emailFor(plan, contact, { recipient }))
  await change(sender, { subscribed: false })
  await core.store.write(async (tx) => {
    await setEmails(tx, { state: 'failed', status: 'FAILED', dueAt: null, error: 'given up' })
  })
  await assert.rejects(retryEmails(core, [own.id]), {
    code: 'CONFLICT',
    message: `Email ${own.id} cannot be retried: the contact has unsubscribed.`,
  })
  await retryEmails(core, [other.id])
  const isIt = eq(emails.id, other.id)
  const row = await core.store.read.select().from(emails).where(isIt).get()
  assert.equal(row?.state, 'queued')
})

test('transactional mail of a workflow is sent to an unsubscribed contact, and is no bulk mail', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender, { subscribed: false })
  const plan = await planOf(sender, { type: 'TRANSACTIONAL' })
  const { id } = await acceptWorkflowEmail(sender, emailFor(plan, contact))
  await runQueue(t, sender, [id])
  const [task] = sender.tasks
  assert.equal(task?.source.isBulk, false)
  assert.equal(task?.source.feedbackId.endsWith(':transactional:pillarbox'), true)
})

test('values of an event are escaped in the message, as those of a contact are', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender)
  const storedVariables = { plan: '<script>', event: { plan: '<img src=x>' } }
  const plan = await planOf(sender, { body: '<p>{{ plan }} {{ event.plan }} {{ data.plan }}</p>' })
  const email = await acceptWorkflowEmail(sender, emailFor(plan, contact, { storedVariables }))
  await runQueue(t, sender, [email.id])
  const source = sender.tasks[0]?.source
  assert.ok(source)
  const message = renderMessage(source, createTemplateCache(testTracker()))
  const escaped = ['&lt;script&gt;', '&lt;img src=x&gt;', '&lt;script&gt;'].join(' ')
  assert.equal(message?.html?.includes(`<p>${escaped}</p>`), true)
  assert.equal(message?.html?.includes('<script>'), false)
})

test('a complaint by somebody else suppresses that address, and the contact stays subscribed', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const contact = await addContact(sender)
  const plan = await planOf(sender)
  const recipient = address('sales@shop.test')
  const own = await acceptWorkflowEmail(sender, emailFor(plan, contact))
  const other = await acceptWorkflowEmail(sender, emailFor(plan, contact, { recipient }))
  await core.store.write(async (tx) => {
    await setEmails(tx, { state: 'delivered', status: 'DELIVERED', dueAt: null, sentAt: 1 })
  })
  const complain = (emailId: string) =>
    core.store.write((tx) =>
      recordReports(core, tx, [{ type: 'complaint', emailId, feedbackType: null }]),
    )
  const isSubscribed = async () => (await core.store.read.select().from(contacts).get())?.subscribed
  assert.deepEqual(await complain(other.id), [true])
  assert.equal(await isSubscribed(), true)
  const [listed] = await core.store.read.select().from(suppressions)
  assert.equal(listed?.address, 'sales@shop.test')
  assert.deepEqual(await complain(own.id), [true])
  assert.equal(await isSubscribed(), false)
})
