import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { suppress } from '../../../../../src/features/mail/messages/outcome/suppression.ts'
import { findPageContact } from '../../../../../src/features/people/contacts/read/public-contact.ts'
import { upsertContact } from '../../../../../src/features/people/contacts/write/contact-queue.ts'
import {
  applySubscriptionRequest,
  changeSubscription,
} from '../../../../../src/features/people/contacts/write/subscription-request.ts'
import { updateContact } from '../../../../../src/features/people/contacts/write/update.ts'
import { ERASED_RECIPIENTS } from '../../../../../src/features/people/wishes/erased-recipients.ts'
import { hasLeft } from '../../../../../src/features/people/wishes/wishes.ts'
import { updateProject } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { newId } from '../../../../../src/store/ids.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { erasedRecipients } from '../../../../../src/store/schema/wishes.ts'
import { deleteExpired } from '../../../../../src/work/retention.ts'
import { addProject, address, openTestCore, type TestCore } from '../../../../core.ts'
import { addEmail, addRecipient, subscriptionEvents } from '../add-recipient.ts'

const page = { reason: 'page' } as const

async function updatedAt({ store }: TestCore, contactId: string) {
  const row = await store.read.select().from(contacts).where(eq(contacts.id, contactId)).get()
  return row?.updatedAt
}

test('a request changes the contact once, with its reason, its email and its campaign', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const campaignId = newId()
  const recipient = await addRecipient(core, { projectId, email: 'ada@people.test', campaignId })
  const { contactId, emailId } = recipient
  core.clock.now += 1000

  const off = await changeSubscription(core, recipient, { subscribed: false, ...page })
  assert.deepEqual(off, {
    id: contactId,
    address: 'ada@people.test',
    subscribed: false,
    language: 'en',
    projectName: 'Shop',
    isSuppressed: false,
  })
  assert.equal(await updatedAt(core, contactId), core.clock.now)

  core.clock.now += 1000
  const again = await changeSubscription(core, recipient, { subscribed: false, ...page })
  assert.deepEqual(again, off)
  assert.equal(await updatedAt(core, contactId), core.clock.now - 1000)

  const on = await changeSubscription(core, recipient, { subscribed: true, reason: 'api' })
  assert.equal(on?.subscribed, true)
  assert.deepEqual(await subscriptionEvents(core), [
    { name: 'contact.unsubscribed', contactId, emailId, data: { reason: 'page', campaignId } },
    { name: 'contact.subscribed', contactId, emailId, data: { reason: 'api', campaignId } },
  ])
})

test('concurrent requests make one change and one event', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const recipient = await addRecipient(core, { projectId })
  const request = { subscribed: false, reason: 'one-click' } as const
  const all = await Promise.all(
    Array.from({ length: 20 }, () => changeSubscription(core, recipient, request)),
  )
  assert.ok(all.every((contact) => contact?.subscribed === false))
  assert.equal((await subscriptionEvents(core)).length, 1)
})

test('the event names an email only if it belongs to the contact', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const { contactId, emailId } = await addRecipient(core, { projectId })
  const second = await addEmail(core, { projectId, contactId, campaignId: newId() })
  const otherContact = await addRecipient(core, { projectId })
  const cases: [string | undefined, string | undefined, string | null][] = [
    [emailId, undefined, emailId],
    [emailId, second, second],
    [emailId, otherContact.emailId, emailId],
    [emailId, newId(), emailId],
    [undefined, second, second],
    [undefined, otherContact.emailId, null],
    [undefined, undefined, null],
    [otherContact.emailId, undefined, null],
  ]
  for (const [index, [own, statedEmailId, credited]] of cases.entries()) {
    const subscribed = index % 2 === 1
    const token = { contactId, emailId: own }
    await changeSubscription(core, token, { subscribed, statedEmailId, ...page })
    const last = (await subscriptionEvents(core)).at(-1)
    assert.deepEqual([index, last?.emailId], [index, credited])
    assert.equal(Object.hasOwn(last?.data ?? {}, 'campaignId'), credited === second)
  }
})

test('requests take effect in a disabled project, in both directions', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const recipient = await addRecipient(core, { projectId })
  await updateProject(core, projectId, { disable: 'MANUAL' })
  for (const subscribed of [false, true]) {
    const contact = await changeSubscription(core, recipient, { subscribed, ...page })
    assert.equal(contact?.subscribed, subscribed)
  }
})

test('a suppressed contact that subscribes is subscribed, and its address stays suppressed', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const email = 'gone@people.test'
  const recipient = await addRecipient(core, { projectId, email, subscribed: false })
  const elsewhere = await addProject(core, 'Elsewhere')
  const other = await addRecipient(core, { projectId: elsewhere.id, email })
  await core.store.write((tx) =>
    suppress(tx, {
      projectId,
      address: email,
      reason: 'COMPLAINT',
      source: 'a report',
      emailId: recipient.emailId,
      at: core.now(),
    }),
  )
  const contact = await changeSubscription(core, recipient, { subscribed: true, ...page })
  assert.equal(contact?.subscribed, true)
  assert.equal(await core.store.read.$count(suppressions), 1)
  assert.equal((await findPageContact(core, recipient))?.isSuppressed, true)
  assert.equal((await findPageContact(core, other))?.isSuppressed, false)
})

test('a request for a deleted contact writes nothing', async (t) => {
  const core = await openTestCore(t)
  const missing = { contactId: newId(), emailId: newId() }
  const request = { subscribed: false, ...page }
  assert.equal(await changeSubscription(core, missing, request), undefined)
  const isChange = await core.store.write((tx) =>
    applySubscriptionRequest(core, tx, { ...request, link: missing }),
  )
  assert.equal(isChange, undefined)
  assert.equal(await core.store.read.$count(events), 0)
})

const TAKING: Record<
  string,
  (core: TestCore, projectId: string, email: string) => Promise<unknown>
> = {
  'a new contact': (core, projectId, email) =>
    upsertContact(core, { projectId, address: address(email), subscribed: true }),
  'a contact that changes its address': async (core, projectId, email) => {
    const key = { projectId, address: address('eve@people.test'), subscribed: true }
    const { contact } = await upsertContact(core, key)
    await updateContact(core, { projectId, id: contact.id }, { address: address(email) })
  },
  'the contact that had it': async (core, projectId, email) => {
    const { id } = (await core.store.read.select().from(contacts).get()) as { id: string }
    await updateContact(core, { projectId, id }, { address: address(email) })
  },
}

for (const [who, take] of Object.entries(TAKING)) {
  for (const withEmail of [false, true]) {
    const link = withEmail ? 'a link of an email' : 'a link without an email'
    test(`${link} acts for the address that it was made for, and ${who} that has it now`, async (t) => {
      const core = await openTestCore(t)
      const { id: projectId } = await addProject(core)
      const before = 'ada@people.test'
      const recipient = await addRecipient(core, { projectId, email: before })
      const { contactId } = recipient
      await core.store.write((tx) => tx.update(emails).set({ recipient: before }).run())
      const digest = core.keyring.addressDigest(projectId, before)
      const emailId = withEmail ? recipient.emailId : undefined
      const change = (email: string) =>
        updateContact(core, { projectId, id: contactId }, { address: address(email) })
      await change('ada@new.test')
      await take(core, projectId, before)
      core.clock.now += 399 * DAY_MS
      await deleteExpired(core, ERASED_RECIPIENTS)
      await changeSubscription(core, { contactId, emailId, digest }, { subscribed: false, ...page })
      const rows = await core.store.read.select().from(contacts).all()
      const states = rows.map((row) => [row.address, row.subscribed])
      const present = who === 'the contact that had it' ? [] : [['ada@new.test', false]]
      assert.deepEqual(new Map(states as never), new Map([...present, [before, false]] as never))
      const left = async (email: string) =>
        core.store.write((tx) => hasLeft(tx, { projectId, address: email }))
      assert.equal(await left(before), true)
      assert.equal(await left('ada@new.test'), present.length === 1)
    })
  }
}

/** Mail of a workflow whose snapshot is gone, and whose contact has another address by now. */
async function oldWorkflowMail(core: TestCore, recipient: string) {
  const { id: projectId } = await addProject(core)
  const before = 'ada@people.test'
  const { contactId, emailId } = await addRecipient(core, { projectId, email: before })
  await core.store.write((tx) =>
    tx.update(emails).set({ recipient, workflowExecutionId: newId(), variables: null }).run(),
  )
  await updateContact(core, { projectId, id: contactId }, { address: address('ada@new.test') })
  return { contactId, emailId, digest: core.keyring.addressDigest(projectId, recipient) }
}

for (const link of ['a link', 'an unsubscribe address']) {
  test(`${link} in old mail of a workflow acts for the present address of its contact`, async (t) => {
    const core = await openTestCore(t)
    const { contactId, ...mail } = await oldWorkflowMail(core, 'ada@people.test')
    const owner = link === 'a link' ? contactId : undefined
    if (owner !== undefined) await core.store.write((tx) => tx.delete(erasedRecipients).run())
    const request = { subscribed: false, ...page }
    const shown = await changeSubscription(core, { contactId: owner, ...mail }, request)
    assert.deepEqual([shown?.id, shown?.subscribed], [contactId, false])
  })
}

test('an unsubscribe address in old mail of a workflow to another spares its contact', async (t) => {
  const core = await openTestCore(t)
  const { contactId, ...mail } = await oldWorkflowMail(core, 'boss@people.test')
  const request = { subscribed: false, ...page }
  const shown = await changeSubscription(core, { contactId: undefined, ...mail }, request)
  assert.deepEqual([shown?.id, shown?.subscribed], [null, false])
  assert.equal((await findPageContact(core, { contactId, emailId: undefined }))?.subscribed, true)
})

test('the language of a contact is its locale, otherwise that of its project, otherwise English', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const languageOf = async (data: Record<string, unknown>) => {
    const recipient = await addRecipient(core, { projectId, data })
    return (await findPageContact(core, recipient))?.language
  }
  assert.equal(await languageOf({}), 'en')
  assert.equal(await languageOf({ locale: 'fr-CA' }), 'fr')
  await core.store.write(async (tx) => {
    await tx.update(projects).set({ language: 'nl' })
  })
  assert.equal(await languageOf({}), 'nl')
  assert.equal(await languageOf({ locale: 'xx' }), 'nl')
  assert.equal(await languageOf({ locale: 'zh-Hant' }), 'zh-TW')
})
