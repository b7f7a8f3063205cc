import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AppError } from '../../../../../src/base/errors.ts'
import {
  acceptForContact,
  planTemplate,
} from '../../../../../src/features/mail/messages/accept/accept-for-contact.ts'
import { suppress } from '../../../../../src/features/mail/messages/outcome/suppression.ts'
import { holdDomain } from '../../../../../src/features/mail/messages/queue/holds.ts'
import type { QueueNotice } from '../../../../../src/features/mail/messages/queue/notifier.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { contents } from '../../../../../src/store/schema/messages.ts'
import { address, START } from '../../../../core.ts'
import { openSender, type Sender } from '../sender.ts'
import { acceptWorkflowEmail, addContact, addTemplate, emailFor, planOf } from '../workflow-mail.ts'

function recordNotices({ core }: Sender): QueueNotice[] {
  const notices: QueueNotice[] = []
  core.queueNotifier.listen((notice) => void notices.push(notice))
  return notices
}

test('an email of a workflow is a queued row of its contact, execution and step', async (t) => {
  const sender = await openSender(t)
  const notices = recordNotices(sender)
  const contact = await addContact(sender)
  const plan = await planOf(sender)
  const email = await acceptWorkflowEmail(sender, emailFor(plan, contact))
  assert.equal(email.contactId, contact.id)
  assert.equal(email.workflowExecutionId, 'the execution')
  assert.equal(email.workflowStepExecutionId, 'the step')
  assert.equal(email.templateId, plan.template.id)
  assert.equal(email.sourceType, 'WORKFLOW')
  assert.equal(email.contentClass, 'MARKETING')
  assert.deepEqual([email.state, email.status, email.dueAt], ['queued', 'PENDING', START])
  assert.equal(email.queueClass, 5)
  assert.equal(email.giveUpAt, START + 86_400_000)
  assert.equal(email.messageId, `${email.id}@example.test`)
  assert.deepEqual(email.variables, { stored: { name: 'Ada' }, request: {} })
  assert.deepEqual(notices, [
    { queueClass: 5, domain: 'dest.test', projectId: sender.project.id, dueAt: START },
  ])
  assert.deepEqual(await sender.eventNames(), [])
})

test('values of the execution override the contact\u2019s, are stored ones and change no contact', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender)
  const storedVariables = { name: '<b>', event: { name: '<b>' }, ['__proto__']: { admin: true } }
  const email = await acceptWorkflowEmail(
    sender,
    emailFor(await planOf(sender), contact, { storedVariables }),
  )
  assert.deepEqual(email.variables?.request, {})
  assert.equal(JSON.stringify(email.variables?.stored), JSON.stringify(storedVariables))
  const row = await sender.core.store.read.select().from(contacts).get()
  assert.deepEqual(row?.data, { name: 'Ada' })
  assert.equal(row?.updatedAt, START)
})

for (const type of ['MARKETING', 'HEADLESS'] as const) {
  test(`${type} mail to an unsubscribed contact is a failed row with its event`, async (t) => {
    const sender = await openSender(t)
    const notices = recordNotices(sender)
    const contact = await addContact(sender, { subscribed: false })
    const email = await acceptWorkflowEmail(
      sender,
      emailFor(await planOf(sender, { type }), contact),
    )
    assert.deepEqual([email.state, email.status, email.dueAt], ['failed', 'FAILED', null])
    assert.equal(email.error, 'the contact has unsubscribed')
    assert.deepEqual(await sender.eventNames(), ['email.failed'])
    assert.deepEqual(notices, [])
  })

  test(`${type} mail about an unsubscribed contact goes to another address`, async (t) => {
    const sender = await openSender(t)
    const contact = await addContact(sender, { subscribed: false })
    const plan = await planOf(sender, { type })
    const email = await acceptWorkflowEmail(
      sender,
      emailFor(plan, contact, { recipient: address('sales@shop.test') }),
    )
    assert.deepEqual([email.state, email.recipient], ['queued', 'sales@shop.test'])
    assert.equal(email.contactId, contact.id)
    assert.deepEqual(email.variables?.reader, {
      id: contact.id,
      email: 'ada@dest.test',
      subscribed: false,
    })
    assert.equal((await sender.counts()).contacts, 1)
  })
}

test('an address that a step names gets its mail, also if it is the unsubscribed contact\u2019s', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender, { subscribed: false })
  const plan = await planOf(sender)
  const accept = (bypassesSubscription: boolean) =>
    acceptWorkflowEmail(sender, emailFor(plan, contact, { bypassesSubscription }))
  const named = await accept(true)
  assert.deepEqual([named.state, named.recipient], ['queued', contact.address])
  assert.equal(named.variables?.reader?.id, contact.id)
  const own = await accept(false)
  assert.deepEqual([own.state, own.variables?.reader], ['failed', undefined])
})

test('transactional mail goes to an unsubscribed contact', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender, { subscribed: false })
  const plan = await planOf(sender, { type: 'TRANSACTIONAL' })
  const email = await acceptWorkflowEmail(sender, emailFor(plan, contact))
  assert.deepEqual([email.state, email.sourceType], ['queued', 'TRANSACTIONAL'])
  assert.equal(email.queueClass, 5)
})

test('a suppressed address gets a suppressed row, whoever the contact is', async (t) => {
  const sender = await openSender(t)
  const { store } = sender.core
  const contact = await addContact(sender, { subscribed: false })
  await store.write(async (tx) => {
    await suppress(tx, {
      ...{ projectId: sender.project.id, address: 'sales@shop.test', reason: 'MANUAL' },
      ...{ source: 'a test', emailId: null, at: START },
    })
  })
  const recipient = address('sales@shop.test')
  const email = await acceptWorkflowEmail(
    sender,
    emailFor(await planOf(sender), contact, { recipient }),
  )
  assert.deepEqual([email.state, email.status, email.error], ['suppressed', 'SUPPRESSED', null])
  assert.deepEqual(await sender.eventNames(), ['email.suppressed'])
})

test('mail to a held domain waits', async (t) => {
  const sender = await openSender(t)
  const contact = await addContact(sender)
  await holdDomain(sender.core, 'dest.test')
  const email = await acceptWorkflowEmail(sender, emailFor(await planOf(sender), contact))
  assert.deepEqual([email.state, email.heldAt, email.dueAt], ['held', START, null])
})

const TRACKED = [
  ['ENABLED', 'MARKETING', true],
  ['ENABLED', 'TRANSACTIONAL', true],
  ['MARKETING_ONLY', 'HEADLESS', true],
  ['MARKETING_ONLY', 'TRANSACTIONAL', false],
  ['DISABLED', 'MARKETING', false],
] as const

test('tracking follows the mode of the project and the class of the template', async (t) => {
  const sender = await openSender(t)
  const { store, directory } = sender.core
  const contact = await addContact(sender)
  for (const [tracking, type, expected] of TRACKED) {
    const isIt = eq(projects.id, sender.project.id)
    await store.write(async (tx) => void (await tx.update(projects).set({ tracking }).where(isIt)))
    directory.drop()
    const project = await directory.findProject(sender.project.id)
    assert.ok(project)
    const templateId = await addTemplate(sender, { type })
    const plan = await planTemplate(sender.core, { project, templateId }, START)
    const { isTracked } = await acceptWorkflowEmail(sender, emailFor(plan, contact))
    assert.equal(isTracked, expected, `${tracking} ${type}`)
  }
})

test('emails of one plan share one content, within a transaction and beyond it', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const contact = await addContact(sender)
  const plan = await planOf(sender)
  const ids = await core.store.write(async (tx) => [
    (await acceptForContact(core, tx, emailFor(plan, contact))).id,
    (await acceptForContact(core, tx, emailFor(plan, contact))).id,
  ])
  await acceptWorkflowEmail(sender, emailFor(plan, contact))
  assert.equal(new Set(ids).size, 2)
  assert.deepEqual(await sender.counts(), { contacts: 1, contents: 1, emails: 3, events: 0 })
})

test('a transaction that fails leaves neither email nor content, and the plan can be used again', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const notices = recordNotices(sender)
  const contact = await addContact(sender)
  const plan = await planOf(sender)
  const failing = core.store.write(async (tx) => {
    await acceptForContact(core, tx, emailFor(plan, contact))
    throw new Error('the step failed')
  })
  await assert.rejects(failing, /the step failed/)
  assert.deepEqual(await sender.counts(), { contacts: 1, contents: 0, emails: 0, events: 0 })
  assert.deepEqual(notices, [])
  const email = await acceptWorkflowEmail(sender, emailFor(plan, contact))
  const isIt = eq(contents.id, email.contentId)
  const content = await core.store.read.select().from(contents).where(isIt).get()
  assert.equal(content?.subject, 'Welcome {{ name }}')
})

test('a missing template and an unverified domain are refused before any write', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const codeOf = async (templateId: string) => {
    const error = await planTemplate(core, { project, templateId }, START).catch((cause) => cause)
    assert.ok(error instanceof AppError)
    return error.code
  }
  assert.equal(await codeOf(newId()), 'TEMPLATE_NOT_FOUND')
  const foreign = await addTemplate(sender, {
    fromDomain: 'other.test',
    fromAddress: 'a@other.test',
  })
  assert.equal(await codeOf(foreign), 'FORBIDDEN')
})
