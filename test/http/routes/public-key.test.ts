/** What the public key, which everybody may have, can do to people and tell of them. */
import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { deleteContact } from '../../../src/features/people/contacts/write/delete.ts'
import { changeSubscription } from '../../../src/features/people/contacts/write/subscription-request.ts'
import { updateContact } from '../../../src/features/people/contacts/write/update.ts'
import { updateProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { ROUTES } from '../../../src/http/route-table.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { idempotencyKeys } from '../../../src/store/schema/service.ts'
import { wishes } from '../../../src/store/schema/wishes.ts'
import { addRecipient } from '../../features/people/contacts/add-recipient.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService()

const UUID_V8 = /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const known = 'known@dest.test'
const unknown = 'unknown@dest.test'
let contactId: string

const allow = (publicKeyMayUpdate: boolean) =>
  updateProject(service.core, mine.id, { publicKeyMayUpdate })

beforeEach(async () => {
  await service.core.store.write(async (tx) => {
    for (const table of [events, contacts, idempotencyKeys, wishes]) await tx.delete(table)
  })
  await allow(false)
  const data = { plan: 'pro', city: 'Oslo' }
  contactId = (await addRecipient(service.core, { projectId: mine.id, email: known, data }))
    .contactId
})

const track = (body: object, key = mine.public) =>
  call('post', '/v1/track', { secret: key }).send({ event: 'seen', ...body })

async function contactOf(email: string) {
  const rows = await service.core.store.read.select().from(contacts)
  return rows.find(({ address }) => address === email)
}

const leave = () =>
  changeSubscription(
    service.core,
    { contactId, emailId: undefined },
    { subscribed: false, reason: 'one-click' },
  )

test('S33: only one route takes the public key, and these tests are about that one', () => {
  const open = ROUTES.filter(([, , callers]) => callers === 'any key')
  assert.deepEqual(
    open.map(([method, path]) => `${method} ${path}`),
    ['POST /v1/track'],
  )
})

test('S33: the public key subscribes nobody who left, whatever the project allows', async () => {
  for (const may of [false, true]) {
    await allow(may)
    await leave()
    for (const body of [{ subscribed: true }, {}, { preserveExistingSubscription: false }]) {
      assert.equal((await track({ email: known, ...body })).status, 200)
      assert.equal((await contactOf(known))?.subscribed, false)
    }
  }
  // Nor as a new contact.
  await deleteContact(service.core, { projectId: mine.id, id: contactId })
  assert.equal((await track({ email: known, subscribed: true })).status, 200)
  assert.equal((await contactOf(known))?.subscribed, false)
  assert.equal((await track({ email: known, subscribed: true }, mine.secret)).status, 200)
  assert.equal((await contactOf(known))?.subscribed, true)
})

test('S33: it unsubscribes nobody and overwrites nothing, but adds what is not there', async () => {
  const data = { plan: 'free', city: null, note: 'new' }
  assert.equal((await track({ email: known, subscribed: false, data })).status, 200)
  const contact = await contactOf(known)
  assert.equal(contact?.subscribed, true)
  assert.deepEqual(contact?.data, { plan: 'pro', city: 'Oslo', note: 'new' })
  assert.equal((await track({ email: unknown, subscribed: false, data })).status, 200)
  const added = await contactOf(unknown)
  assert.equal(added?.subscribed, false)
  assert.deepEqual(added?.data, { plan: 'free', note: 'new' })
})

test('S33: it may do both where the project lets it, as before', async () => {
  await allow(true)
  const data = { plan: 'free' }
  const { body } = await track({ email: known, subscribed: false, data })
  assert.deepEqual([body.contact, body.warnings], [contactId, undefined])
  const contact = await contactOf(known)
  assert.deepEqual([contact?.subscribed, contact?.data?.plan], [false, 'free'])
})

/** An answer without what no two answers share. */
function shapeOf({ status, body, headers }: Awaited<ReturnType<typeof track>>) {
  const { contact, event, timestamp, time: _time, data, error, ...rest } = body
  const names = Object.keys(headers).filter((name) => name !== 'connection')
  const { requestId: _, ...fault } = error ?? {}
  return {
    ...{ status, rest, names: names.sort(), fields: Object.keys(body), fault: { ...fault } },
    inside: Object.keys(data ?? {}),
    version: [contact, event].map((id) => String(id)[14]),
    size: headers['content-length'],
  }
}

const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1]))

test('S33: an answer does not tell whether the address is known', async () => {
  const large = 'x'.repeat(40_000)
  const bodies: object[] = [
    {},
    { subscribed: true },
    { subscribed: false },
    { data: { plan: 'free' } },
    { data: { plan: null } },
    { data: { large } },
    { data: { locale: 5 } },
    { subscribed: 'yes' },
    { event: 'email.sent' },
    { unknown: 1 },
    { data: keys(501) },
    { data: keys(500) },
  ]
  // So much that some of these would make the contact too large.
  const full = { email: known, data: { first: large.slice(0, 30_000) } }
  assert.equal((await track(full, mine.secret)).status, 200)
  for (const body of bodies) {
    const known1 = await track({ email: known, ...body })
    const known2 = await track({ email: known.toUpperCase(), ...body })
    const unknown1 = await track({ email: unknown, ...body })
    const unknown2 = await track({ email: unknown, ...body })
    const what = JSON.stringify(body).slice(0, 60)
    const same = (one: unknown, two: unknown) => assert.deepEqual(one, two, what)
    // The addresses have the same length but for two letters.
    const shape = (answer: typeof known1) => ({ ...shapeOf(answer), size: undefined })
    same(shape(known1), shape(unknown1))
    same(shapeOf(unknown1), shapeOf(unknown2))
    same(known1.body.contact, known2.body.contact)
    same(unknown1.body.contact, unknown2.body.contact)
    if (known1.status !== 200) continue
    assert.match(known1.body.contact, UUID_V8)
    assert.match(unknown1.body.contact, UUID_V8)
    assert.notEqual(known1.body.contact, unknown1.body.contact)
    same(known1.body.data.contact, known1.body.contact)
  }
})

test('S33: the stand-in differs by project, and no route finds a contact by it', async () => {
  const { body } = await track({ email: known })
  const there = await track({ email: known }, other.public)
  assert.notEqual(there.body.contact, body.contact)
  assert.equal((await call('get', `/contacts/${body.contact}`)).status, 404)
})

test('S33: a body with subscribed or data gets one warning, the same for all', async () => {
  const given: [object, string | undefined][] = [
    [{}, undefined],
    [{ subscribed: true }, 'subscribed'],
    [{ data: { a: 1 } }, 'data'],
    [{ subscribed: false, data: { a: 1 } }, 'subscribed'],
  ]
  for (const [body, field] of given) {
    for (const email of [known, unknown]) {
      const answer = await track({ email, ...body })
      const [warning, ...more] = answer.body.warnings ?? []
      assert.deepEqual([warning?.field, more], [field, []])
      if (field === undefined) continue
      assert.deepEqual(Object.keys(warning), ['field', 'message', 'suggestion'])
      assert.match(warning.suggestion, /publicKeyMayUpdate/)
      assert.deepEqual(answer.body.data.warnings, [`${field}: ${warning.message}`])
    }
    assert.equal((await track({ email: known, ...body }, mine.secret)).body.warnings, undefined)
  }
})

test('S33: the warning says what a body does, to a new and to a known contact', async () => {
  const known =
    'a known contact gets only keys of the data that it does not have yet, and the event has all of it'
  const given: [object, string][] = [
    [
      { subscribed: true },
      'a contact is subscribed as asked, new or known, unless the person left',
    ],
    [
      { subscribed: true, preserveExistingSubscription: true },
      'a new contact is subscribed as asked unless the person left, and a known one keeps its state',
    ],
    [
      { subscribed: false },
      'a new contact is unsubscribed as asked, and a known one keeps its state',
    ],
    [{ data: { plan: 'free', note: 'new' } }, known],
    [
      { subscribed: false, preserveExistingSubscription: true, data: { plan: 'free' } },
      `a new contact is unsubscribed as asked, and a known one keeps its state; ${known}`,
    ],
  ]
  for (const [body, text] of given) {
    const { body: answer } = await track({ email: unknown, ...body })
    assert.equal(answer.warnings[0].message, `With the public key, ${text}.`)
  }
})

test('S33: a known contact that the project unsubscribed is subscribed, unless it is preserved', async () => {
  await updateContact(service.core, { projectId: mine.id, id: contactId }, { subscribed: false })
  await track({ email: known, subscribed: true, preserveExistingSubscription: true })
  assert.equal((await contactOf(known))?.subscribed, false)
  await track({ email: known, subscribed: true })
  assert.equal((await contactOf(known))?.subscribed, true)
})

test('S33: a used Idempotency-Key of the secret key tells no id', async () => {
  const send = (key: string) => track({ email: known }, key).set('Idempotency-Key', 'order-1')
  assert.equal((await send(mine.secret)).status, 200)
  const { status, text } = await send(mine.public)
  assert.equal(status, 409)
  assert.doesNotMatch(text, new RegExp(contactId))
  const own = (key: string) => track({ email: known }, key).set('Idempotency-Key', 'order-2')
  const first = await own(mine.public)
  const second = await own(mine.public)
  assert.equal(second.status, 409)
  assert.equal(second.body.error.details.data.contact, first.body.contact)
})

test('the setting is in the record, and new projects begin without it', async () => {
  const { id } = await service.makeProject('New')
  const { loadProject } = await import(
    '../../../src/features/tenancy/accounts/projects/projects.ts'
  )
  assert.equal((await loadProject(service.core, id)).publicKeyMayUpdate, false)
  assert.equal((await allow(true)).publicKeyMayUpdate, true)
})
