import assert from 'node:assert/strict'
import { test } from 'node:test'
import { updateProject } from '../../../../src/features/accounts/projects.ts'
import {
  findPageContact,
  findPublicContact,
} from '../../../../src/features/contacts/read/public-contact.ts'
import {
  changeSubscription,
  recordWish,
} from '../../../../src/features/contacts/write/subscription.ts'
import { suppress } from '../../../../src/features/messages/outcome/suppression.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { addProject, openWorld, type World } from '../../world.ts'
import { addEmail, addRecipient, subscriptionEvents } from '../recipient.ts'

const page = { reason: 'page' } as const

async function updatedAt({ store }: World, contactId: string) {
  const row = await store.read.select().from(contacts).where(eq(contacts.id, contactId)).get()
  return row?.updatedAt
}

test('a wish flips the contact once, with its reason, its email and its campaign', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const campaignId = newId()
  const recipient = await addRecipient(world, { projectId, email: 'ada@people.test', campaignId })
  const { contactId, emailId } = recipient
  world.clock.at += 1000

  const off = await changeSubscription(world, recipient, { subscribed: false, ...page })
  assert.deepEqual(off, {
    id: contactId,
    email: 'ada@people.test',
    subscribed: false,
    language: 'en',
  })
  assert.equal(await updatedAt(world, contactId), world.clock.at)

  world.clock.at += 1000
  const again = await changeSubscription(world, recipient, { subscribed: false, ...page })
  assert.deepEqual(again, off)
  assert.equal(await updatedAt(world, contactId), world.clock.at - 1000)

  const on = await changeSubscription(world, recipient, { subscribed: true, reason: 'api' })
  assert.equal(on?.subscribed, true)
  assert.deepEqual(await subscriptionEvents(world), [
    { name: 'contact.unsubscribed', contactId, emailId, data: { reason: 'page', campaignId } },
    { name: 'contact.subscribed', contactId, emailId, data: { reason: 'api', campaignId } },
  ])
})

test('wishes that meet are one flip and one event', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const recipient = await addRecipient(world, { projectId })
  const wish = { subscribed: false, reason: 'one-click' } as const
  const all = await Promise.all(
    Array.from({ length: 20 }, () => changeSubscription(world, recipient, wish)),
  )
  assert.ok(all.every((contact) => contact?.subscribed === false))
  assert.equal((await subscriptionEvents(world)).length, 1)
})

test('an email is credited only when it is one of the contact', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const { contactId, emailId } = await addRecipient(world, { projectId })
  const second = await addEmail(world, { projectId, contactId, campaignId: newId() })
  const stranger = await addRecipient(world, { projectId })
  const cases: [string | undefined, string | undefined, string | null][] = [
    [emailId, undefined, emailId],
    [emailId, second, second],
    [emailId, stranger.emailId, emailId],
    [emailId, newId(), emailId],
    [undefined, second, second],
    [undefined, stranger.emailId, null],
    [undefined, undefined, null],
    [stranger.emailId, undefined, null],
  ]
  for (const [index, [own, claimedEmailId, credited]] of cases.entries()) {
    const subscribed = index % 2 === 1
    const token = { contactId, emailId: own }
    await changeSubscription(world, token, { subscribed, claimedEmailId, ...page })
    const last = (await subscriptionEvents(world)).at(-1)
    assert.deepEqual([index, last?.emailId], [index, credited])
    assert.equal(Object.hasOwn(last?.data ?? {}, 'campaignId'), credited === second)
  }
})

test('a disabled project is obeyed all the same, in both directions', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const recipient = await addRecipient(world, { projectId })
  await updateProject(world, projectId, { disable: 'MANUAL' })
  for (const subscribed of [false, true]) {
    const contact = await changeSubscription(world, recipient, { subscribed, ...page })
    assert.equal(contact?.subscribed, subscribed)
  }
})

test('who subscribes from the suppression list is subscribed, and stays on the list', async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const email = 'gone@people.test'
  const recipient = await addRecipient(world, { projectId, email, subscribed: false })
  const elsewhere = await addProject(world, 'Elsewhere')
  const other = await addRecipient(world, { projectId: elsewhere.id, email })
  await world.store.write((tx) =>
    suppress(tx, {
      projectId,
      email,
      reason: 'COMPLAINT',
      source: 'a report',
      emailId: recipient.emailId,
      at: world.now(),
    }),
  )
  const contact = await changeSubscription(world, recipient, { subscribed: true, ...page })
  assert.equal(contact?.subscribed, true)
  assert.equal(await world.store.read.$count(suppressions), 1)
  assert.equal((await findPageContact(world, recipient.contactId))?.isSuppressed, true)
  assert.equal((await findPageContact(world, other.contactId))?.isSuppressed, false)
})

test('of a contact that is gone nothing is written', async (t) => {
  const world = await openWorld(t)
  const nobody = { contactId: newId(), emailId: newId() }
  const wish = { subscribed: false, ...page }
  assert.equal(await changeSubscription(world, nobody, wish), undefined)
  const isChange = await world.store.write((tx) => recordWish(world, tx, { ...wish, page: nobody }))
  assert.equal(isChange, false)
  assert.equal(await world.store.read.$count(events), 0)
})

test("a contact's language is its locale, else its project's, else English", async (t) => {
  const world = await openWorld(t)
  const { id: projectId } = await addProject(world)
  const languageOf = async (data: Record<string, unknown>) => {
    const { contactId } = await addRecipient(world, { projectId, data })
    return (await findPublicContact(world, contactId))?.language
  }
  assert.equal(await languageOf({}), 'en')
  assert.equal(await languageOf({ locale: 'fr-CA' }), 'fr')
  await world.store.write(async (tx) => {
    await tx.update(projects).set({ language: 'nl' })
  })
  assert.equal(await languageOf({}), 'nl')
  assert.equal(await languageOf({ locale: 'xx' }), 'nl')
  assert.equal(await languageOf({ locale: 'zh-Hant' }), 'zh-TW')
})
