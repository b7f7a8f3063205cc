/** Contacts and events that are written together are as they are one after another. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import {
  createEventQueue,
  type TrackRights,
} from '../../../../../src/features/people/contacts/events/event-queue.ts'
import { findKnownAddresses } from '../../../../../src/features/people/contacts/read/known-addresses.ts'
import {
  createContactQueue,
  upsertContact,
} from '../../../../../src/features/people/contacts/write/contact-queue.ts'
import { asc, eq } from '../../../../../src/store/drizzle.ts'
import { contacts } from '../../../../../src/store/schema/contacts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { wishes } from '../../../../../src/store/schema/wishes.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { addProject, address, openTestCore, START, type TestCore } from '../../../../core.ts'
import { HISTORIES, type History, live } from '../histories.ts'

type Call = {
  kind: 'contact' | 'event'
  history: History
  rights: TrackRights
  subscribed: boolean | undefined
  preserves: boolean
  hasLeft: boolean
  data: Record<string, unknown> | undefined
  key: boolean
  times: number
}

const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.constantFrom('contact', 'event'),
  history: fc.constantFrom(...HISTORIES),
  rights: fc.constantFrom('all', 'update', 'add'),
  subscribed: fc.constantFrom(undefined, undefined, true, false),
  preserves: fc.boolean(),
  hasLeft: fc.constantFrom(false, false, false, true),
  data: fc.constantFrom<Record<string, unknown> | undefined>(
    undefined,
    { plan: 'pro' },
    { plan: null, city: 'Ulm' },
    { long: 'x'.repeat(40_000) },
  ),
  key: fc.boolean(),
  times: fc.constantFrom(1, 1, 2),
})

async function act(core: TestCore, projectId: string, { call, number }: Numbered) {
  const { subscribed, data, history } = call
  const email = address(`p${number}@${history}.test`)
  if (call.kind === 'contact') {
    const hasLeft = call.hasLeft && subscribed === false
    const result = await upsertContact(core, {
      projectId,
      address: email,
      subscribed,
      hasLeft,
      data,
    })
    const { contact, ...facts } = result
    const { createdAt, updatedAt } = contact
    return { ...facts, subscribed: contact.subscribed, createdAt, updatedAt }
  }
  const request = { event: 'bought', address: email, subscribed, data }
  const key = { key: `${projectId}-${number}`, method: 'POST', path: '/v1/track' }
  const { contact } = await recordEventByAddress(core, {
    projectId,
    request: { ...request, preserveExistingSubscription: call.preserves },
    rights: call.rights,
    idempotency: call.key && call.times === 1 ? key : undefined,
  })
  return { version: contact[14] }
}

type Numbered = { call: Call; number: number }

async function effectsOf({ store }: TestCore, projectId: string) {
  const people = await store.read
    .select()
    .from(contacts)
    .where(eq(contacts.projectId, projectId))
    .orderBy(asc(contacts.address))
  const happened = await store.read.select().from(events).where(eq(events.projectId, projectId))
  const addresses = new Map(people.map((person) => [person.id, person.address]))
  return {
    people: people.map(({ id, projectId, number, ...person }) => person),
    events: happened
      .map(({ name, contactId, data }) => ({ name, data, of: addresses.get(contactId ?? '') }))
      .map((event) => JSON.stringify(event))
      .toSorted(),
    wishes: await store.read.$count(wishes, eq(wishes.projectId, projectId)),
  }
}

test('contacts and events that wait together are written as one after another', async (t) => {
  const core = await openTestCore(t)
  const property = fc.asyncProperty(
    fc.array(call, { minLength: 2, maxLength: 12 }),
    async (calls) => {
      const found: unknown[] = []
      for (const isTogether of [true, false]) {
        const { id } = await addProject(core)
        const acts: (() => Promise<unknown>)[] = []
        core.clock.now = START
        for (const [number, each] of calls.entries()) {
          const { history, times } = each
          await live(core, id, { email: `p${number}@${history}.test`, history })
          // The same address twice, if the second call cannot wait for the first.
          const isSafe = each.subscribed === undefined && !each.hasLeft
          for (let time = 0; time < (isSafe ? times : 1); time += 1) {
            const at = START + 1 + acts.length
            acts.push(() => {
              core.clock.now = at
              return act(core, id, { call: each, number })
            })
          }
        }
        const settled: PromiseSettledResult<unknown>[] = []
        if (isTogether) settled.push(...(await Promise.allSettled(acts.map((each) => each()))))
        else for (const each of acts) settled.push(...(await Promise.allSettled([each()])))
        const outcomes = settled.map((each) =>
          each.status === 'fulfilled' ? each.value : `${each.reason.code} ${each.reason.message}`,
        )
        found.push({ outcomes, ...(await effectsOf(core, id)) })
      }
      assert.deepEqual(found[0], found[1])
    },
  )
  await fc.assert(property, { numRuns: 15 })
})

test('a contact that is added and changed in one batch is stored as it is answered', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const calls = [
    { email: 'a@x.test', data: { plan: 'free' } },
    { email: 'b@x.test', data: undefined },
    { email: 'a@x.test', data: { plan: 'pro' } },
  ]
  const results = await Promise.all(
    calls.map(({ email, data }) => {
      core.clock.now += 1
      return upsertContact(core, { projectId, address: address(email), data })
    }),
  )
  const answers = results.map(({ contact }) => contact)
  assert.deepEqual(
    answers.map(({ createdAt, updatedAt }) => [createdAt - START, updatedAt - START]),
    [
      [1, 1],
      [2, 2],
      [1, 3],
    ],
  )
  const stored = await core.store.read.select().from(contacts).orderBy(asc(contacts.address))
  assert.deepEqual(
    stored.map(({ number, ...contact }) => contact),
    [answers[2], answers[1]],
  )
})

test('contacts with much stored data are written alone, and a batch does not read their data', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  let closures = 0
  const write: Store['write'] = (fn, options) => {
    closures += 1
    return core.store.write(fn, options)
  }
  const store = { ...core.store, write }
  const deps = {
    ...core,
    contactQueue: createContactQueue(store),
    eventQueue: createEventQueue(store),
  }
  const people = ['a', 'b', 'large', 'huge'].map((name) => address(`${name}@x.test`))
  const sizes = [10, 7_900, 8_000, 50_000]
  const upsertAll = (dataOf: (index: number) => unknown) =>
    Promise.all(
      people.map((each, index) =>
        upsertContact(deps, { projectId, address: each, data: dataOf(index) }),
      ),
    )
  await upsertAll((index) => ({ bulk: 'y'.repeat(sizes[index]!) }))
  assert.equal(closures, 1)
  const results = await upsertAll(() => ({ plan: 'pro' }))
  // One for all, and one each for two.
  assert.equal(closures, 1 + 3)
  for (const [index, { contact, isNew }] of results.entries()) {
    assert.equal(isNew, false)
    assert.deepEqual(contact.data, { bulk: 'y'.repeat(sizes[index]!), plan: 'pro' })
  }
  await Promise.all(
    people.map((each) =>
      recordEventByAddress(deps, { projectId, request: { event: 'bought', address: each } }),
    ),
  )
  assert.equal(closures, 4 + 3)
  assert.equal(await core.store.read.$count(events, eq(events.projectId, projectId)), 4)
  const texts = people.map((each) => each.address)
  const known = await findKnownAddresses(core.store.read, projectId, texts, 8_000)
  assert.deepEqual([...known.contacts.keys()].sort(), texts.slice(0, 2))
  assert.deepEqual([...known.large].sort(), texts.slice(2).sort())
})
