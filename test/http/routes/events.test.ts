import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import fc from 'fast-check'
import { z } from 'zod'
import { DAY_MS } from '../../../src/base/clock.ts'
import { appendEvent, appendEvents } from '../../../src/features/ground/events/append.ts'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { jobs } from '../../../src/store/schema/jobs.ts'
import { contents, emails } from '../../../src/store/schema/messages.ts'
import { segments } from '../../../src/store/schema/segments.ts'
import { anyCharacter } from '../../any-character.ts'
import { addRecipient } from '../../features/people/contacts/add-recipient.ts'
import { listRoutes } from '../listed-routes.ts'
import { type Method, useService } from '../service.ts'

const { service, mine, other, call } = useService()

const START = Date.parse('2026-03-01T12:00:00.000Z')

beforeEach(() =>
  service.core.store.write(async (tx) => {
    for (const table of [events, emails, contents, contacts, segments, jobs]) await tx.delete(table)
  }),
)

const get = async (path: string, by = mine) => (await call('get', path, by)).body

type EventInput = { name: string; at?: number; contactId?: string | null; projectId?: string }

const addEvents = (...inputs: EventInput[]) =>
  service.core.store.write((tx) =>
    appendEvents(
      tx,
      inputs.map(({ name, at = START, contactId = null, projectId = mine.id }) => ({
        ...{ projectId, name, contactId, emailId: null, data: null, at },
      })),
    ),
  )

/** A contact with an email. */
const addContact = (projectId = mine.id, email = `${newId()}@people.test`) =>
  addRecipient(service.core, { projectId, email })

const allEvents = () => service.core.store.read.select().from(events).orderBy(events.seq).all()

const segmentOf = (name: string, field: string, projectId = mine.id) =>
  service.core.store.write(async (tx) => {
    const id = newId()
    const filters = [{ field, operator: 'triggered' as const }]
    await tx.insert(segments).values({
      ...{ id, projectId, name, createdAt: START, updatedAt: START },
      condition: { logic: 'AND', groups: [{ filters }] },
    })
    return { id, name }
  })

test('POST /events/track records an event of a contact and an email', async () => {
  const { contactId, emailId } = await addContact()
  const body = { name: 'order placed', contactId, emailId, data: { total: 7 } }
  const answer = await call('post', '/events/track').send(body)
  assert.equal(answer.status, 201)
  const [row] = await allEvents()
  assert.deepEqual(answer.body, {
    ...{ id: row?.id, name: 'order placed', data: { total: 7 }, projectId: mine.id },
    ...{ contactId, emailId, createdAt: new Date(row?.createdAt ?? 0).toISOString() },
  })
  const bare = await call('post', '/events/track').send({ name: 'bare' })
  assert.deepEqual(
    [bare.status, bare.body.contactId, bare.body.emailId, bare.body.data],
    [201, null, null, null],
  )
})

test('POST /events/track accepts the body of POST /v1/track with the same effect', async () => {
  const body = { event: 'signup', email: 'reader@people.test', data: { plan: 'pro' } }
  const answer = await call('post', '/events/track').send(body)
  assert.equal(answer.status, 200)
  const [contact] = await service.core.store.read.select().from(contacts)
  const [event] = await allEvents()
  assert.deepEqual(
    [answer.body.success, answer.body.data.contact, answer.body.data.event],
    [true, contact?.id, event?.id],
  )
  assert.deepEqual([contact?.subscribed, contact?.data], [true, { plan: 'pro' }])
})

test('S20: a contact or an email of another project is 404, and no event is stored', async () => {
  const theirs = await addContact(other.id)
  const own = await addContact()
  const before = (await allEvents()).length
  const { contactId, emailId } = theirs
  const byContact = await call('post', '/events/track').send({ name: 'x', contactId })
  assert.deepEqual([byContact.status, byContact.body.error.code], [404, 'CONTACT_NOT_FOUND'])
  const byEmail = await call('post', '/events/track').send({
    ...{ name: 'x', contactId: own.contactId, emailId },
  })
  assert.deepEqual([byEmail.status, byEmail.body.error.code], [404, 'RESOURCE_NOT_FOUND'])
  const unknown = await call('post', '/events/track').send({ name: 'x', contactId: newId() })
  assert.equal(
    unknown.body.error.message.replace(/[0-9a-f-]{36}/, ''),
    byContact.body.error.message.replace(/[0-9a-f-]{36}/, ''),
  )
  assert.equal((await call('get', `/events/contact/${contactId}`)).status, 404)
  assert.equal((await allEvents()).length, before)
})

const refused: [object, string, string][] = [
  [{}, 'name', 'required'],
  [{ event: 'signup' }, 'email', 'required'],
  [{ name: '' }, 'name', 'too_small'],
  [{ name: 'a\u0007' }, 'name', 'invalid_string'],
  [{ name: 'email.open' }, 'name', 'reserved_event'],
  [{ name: 'workflow.started' }, 'name', 'reserved_event'],
  [{ name: 'webhook.disabled' }, 'name', 'reserved_event'],
  [{ event: 'email.open', email: 'a@b.test' }, 'event', 'reserved_event'],
  [{ name: 'x', contactId: '7' }, 'contactId', 'invalid_string'],
  [{ name: 'x', data: { a: 'x'.repeat(70_000) } }, 'data', 'too_big'],
]
for (const [body, field, code] of refused) {
  test(`POST /events/track refuses ${JSON.stringify(body).slice(0, 50)}`, async () => {
    const answer = await call('post', '/events/track').send(body)
    assert.equal(answer.status, 422)
    const errors: { field: string; code: string }[] = answer.body.error.errors
    assert.deepEqual(
      errors.map((each) => [each.field, each.code]),
      [[field, code]],
    )
    assert.deepEqual(await allEvents(), [])
  })
}

test('the list is newest first, a hundred at a time, with the addresses of contacts', async () => {
  const { contactId } = await addContact(mine.id, 'reader@people.test')
  await service.core.store.write((tx) => tx.delete(events))
  await addEvents(
    ...Array.from({ length: 101 }, (_, index) => ({ name: `e${index}`, at: START + index })),
    { name: 'of a contact', at: START + DAY_MS, contactId },
    { name: 'theirs', projectId: other.id },
  )
  const first = await get('/events')
  assert.equal(first.events.length, 100)
  assert.deepEqual(first.events[0].contact, { email: 'reader@people.test' })
  assert.equal(first.events[1].contact, null)
  assert.equal(first.hasMore, true)
  const second = await get(`/events?cursor=${first.cursor}`)
  const names = [...first.events, ...second.events].map(({ name }: { name: string }) => name)
  assert.deepEqual(names, ['of a contact', ...Array.from({ length: 101 }, (_, i) => `e${100 - i}`)])
  assert.deepEqual([second.cursor, second.hasMore], [null, false])
  const byId = await get(`/events?limit=1&cursor=${first.events[0].id}`)
  assert.equal(byId.events[0].name, 'e100')
})

test('pages of one name have only that name; limits are capped; an invalid limit or cursor is refused', async () => {
  await addEvents(
    { name: 'a b' },
    { name: 'c' },
    { name: 'a b' },
    { name: 'a b', projectId: other.id },
  )
  assert.equal((await get('/events?eventName=a%20b')).events.length, 2)
  assert.deepEqual((await get('/events?eventName=nothing')).events, [])
  assert.equal((await get('/events?limit=5000')).events.length, 3)
  const theirs = (await allEvents()).find(({ projectId }) => projectId === other.id)?.id
  for (const query of ['limit=0', 'limit=x', 'cursor=x', `cursor=${newId()}`, `cursor=${theirs}`]) {
    const { status, body } = await call('get', `/events?${query}`)
    assert.deepEqual([status, body.error.code], [422, 'VALIDATION_ERROR'], query)
  }
})

test('events of failed and suppressed emails are listed only when they are asked for by name', async () => {
  await addEvents({ name: 'signup' }, { name: 'email.failed' }, { name: 'email.suppressed' })
  const namesOf = async (path: string) =>
    (await get(path)).events.map(({ name }: { name: string }) => name)
  assert.deepEqual(await namesOf('/events'), ['signup'])
  for (const name of ['email.failed', 'email.suppressed']) {
    assert.deepEqual(await namesOf(`/events?eventName=${name}`), [name])
  }
})

test('a name works as its alias too, wherever a call takes the name of an event', async () => {
  const { contactId } = await addContact()
  await addEvents({ name: 'email.delivery', contactId }, { name: 'email.click', contactId })
  await segmentOf('clicked', 'email.clicked')
  const taking = listRoutes(service.core).filter(({ path, query }) => {
    const shape = query === undefined ? {} : z.toJSONSchema(query, { io: 'input' })
    return path.includes(':eventName') || 'eventName' in (Object(shape).properties ?? {})
  })
  const answer = async (method: Method, path: string, name: string) => {
    const url = path.replace(':eventName', name)
    const asked = call(method, path === url ? `${url}?eventName=${name}` : url)
    const { status, body } = await asked
    return [status, body.error?.code ?? body]
  }
  for (const { method, path } of taking) {
    for (const [alias, name] of [
      ['email.delivered', 'email.delivery'],
      ['email.clicked', 'email.click'],
    ] as const) {
      const verb = method.toLowerCase() as Method
      const [one, other] = [await answer(verb, path, alias), await answer(verb, path, name)]
      assert.deepEqual(one, other, `${method} ${path} ${alias}`)
    }
  }
  assert.deepEqual(taking.map(({ method, path }) => `${method} ${path}`).sort(), [
    'DELETE /events/:eventName',
    'GET /events',
    'GET /events/:eventName/usage',
    'GET /workflows/fields',
  ])
  assert.equal((await get('/events?eventName=email.delivered')).events.length, 1)
  const usage = await get('/events/email.clicked/usage')
  assert.deepEqual([usage.totalCount, usage.uniqueContacts, usage.usedInSegments.length], [1, 1, 1])
  for (const types of ['email.clicked', 'email.click']) {
    const { data } = await get(`/activity?startDate=2026-01-01&types=${types}`)
    assert.deepEqual([data.length, data[0].type], [1, 'email.clicked'])
  }
})

test('an event of an email shows the data of the email, and that of received mail its text', async () => {
  const { contactId, emailId } = await addContact()
  const about = { projectId: mine.id, contactId, emailId, at: START }
  await service.core.store.write(async (tx) => {
    await tx.delete(events)
    const [{ contentId } = { contentId: '' }] = await tx.select().from(emails)
    await tx.insert(contents).values({
      ...{ id: contentId, projectId: mine.id, subject: 'Re', body: '<p>Hello</p>' },
      ...{ lastUsedAt: START, createdAt: START },
    })
    await tx.update(emails).set({ openedAt: START })
    await appendEvent(tx, { ...about, name: 'email.open', data: { opens: 1 } })
    await appendEvent(tx, { ...about, name: 'email.received', data: { subject: 'Re' } })
    await appendEvent(tx, { ...about, name: 'mine', data: null })
  })
  const [own, received, open] = (await get('/events')).events
  assert.equal(own.data, null)
  assert.equal(received.data.subject, 'Re')
  assert.equal(received.data.body, '<p>Hello</p>')
  assert.deepEqual([open.data.opens, open.data.emailId], [1, emailId])
  assert.equal(open.data.openedAt, new Date(START).toISOString())
  assert.ok('messageId' in open.data && !('body' in open.data))
  const listed = (await get(`/events/contact/${contactId}`)).events
  assert.deepEqual(listed[1].data, received.data)
})

test('the events of a contact of all names are listed newest first, fifty at most', async () => {
  const { contactId } = await addContact()
  await service.core.store.write((tx) => tx.delete(events))
  await addEvents(
    ...Array.from({ length: 60 }, (_, index) => ({
      ...{ name: `n${index % 3}`, at: START + index, contactId },
    })),
  )
  const all = (await get(`/events/contact/${contactId}`)).events
  assert.deepEqual(
    all.map(({ createdAt }: { createdAt: string }) => Date.parse(createdAt) - START),
    Array.from({ length: 50 }, (_, index) => 59 - index),
  )
  assert.equal('contact' in all[0], false)
  const few = await get(`/events/contact/${contactId.toUpperCase()}?limit=2`)
  assert.equal(few.events.length, 2)
  assert.equal((await call('get', `/events/contact/${newId()}`)).status, 404)
})

test('figures and names cover the project only, the most frequent first', async () => {
  await addEvents(
    ...[{ name: 'rare' }, { name: 'often' }, { name: 'often', at: START + 2 * DAY_MS }],
    ...[{ name: 'also' }, { name: 'theirs', projectId: other.id }],
  )
  assert.deepEqual(await get('/events/stats'), [
    { name: 'often', count: 2 },
    { name: 'also', count: 1 },
    { name: 'rare', count: 1 },
  ])
  assert.deepEqual(await get('/events/names'), { eventNames: ['often', 'also', 'rare'] })
  assert.deepEqual(await get('/events/stats?startDate=2026-03-02'), [{ name: 'often', count: 1 }])
  assert.equal((await get('/events/stats?endDate=2026-03-01')).length, 3)
  assert.deepEqual(await get('/events/stats?endDate=2026-02-28'), [])
  assert.deepEqual(await get('/events/names', other), { eventNames: ['theirs'] })
  assert.equal((await call('get', '/events/stats?startDate=soon')).status, 422)
})

test('usage shows the uses of a name, the number of events, and whether they can be deleted', async () => {
  const { contactId } = await addContact()
  await service.core.store.write((tx) => tx.delete(events))
  const vip = await segmentOf('VIP', 'event.order placed')
  await segmentOf('Others', 'event.order')
  await segmentOf('Theirs', 'event.order placed', other.id)
  await addEvents({ name: 'order placed', contactId }, { name: 'order placed', contactId })
  await addEvents({ name: 'order placed' }, { name: 'order placed', projectId: other.id })
  assert.deepEqual(await get('/events/order%20placed/usage'), {
    ...{ usedInSegments: [vip], usedInWorkflows: [], totalCount: 3, uniqueContacts: 1 },
    canDelete: false,
  })
  const unknown = await get('/events/unknown/usage')
  assert.deepEqual([unknown.totalCount, unknown.canDelete], [0, true])
  const opened = await segmentOf('Openers', 'email.opened')
  const usage = await get('/events/email.open/usage')
  assert.deepEqual([usage.usedInSegments, usage.canDelete], [[opened], false])
})

test('a name is deleted with all its events, and nothing else with it', async () => {
  await addEvents({ name: 'old' }, { name: 'old' }, { name: 'older' })
  await addEvents({ name: 'old', projectId: other.id })
  const { status, body } = await call('delete', '/events/old')
  assert.deepEqual([status, body], [200, { deletedCount: 2 }])
  assert.deepEqual((await get('/events/names')).eventNames, ['older'])
  assert.deepEqual((await get('/events/names', other)).eventNames, ['old'])
  assert.deepEqual((await call('delete', '/events/old')).body, { deletedCount: 0 })
})

test('reserved names and names that a segment refers to are not deleted', async () => {
  await addEvents({ name: 'email.sent' }, { name: 'used' })
  const vip = await segmentOf('VIP', 'event.used')
  for (const name of ['email.sent', 'contact.subscribed', 'segment.vip.entry', 'used']) {
    const { status, body } = await call('delete', `/events/${name}`)
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'], name)
    if (name === 'used') assert.deepEqual(body.error.details.usedInSegments, [vip])
  }
  assert.equal((await allEvents()).length, 2)
})

test('many events of a name are deleted by a job whose id is in the response', async () => {
  await addEvents(...Array.from({ length: 501 }, () => ({ name: 'old' })))
  const { body } = await call('delete', '/events/old')
  const [job] = await service.core.store.read.select().from(jobs)
  assert.deepEqual(body, { deletedCount: 501, jobId: job?.id })
  assert.match(String(body.jobId), new RegExp(`^delete-events-${mine.id}-\\d+$`))
  assert.deepEqual(await get(`/events/jobs/${body.jobId}`), {
    ...{ id: body.jobId, state: 'waiting', progress: 0, result: null, failedReason: null },
    data: { name: 'old', total: 501 },
  })
  assert.equal((await call('get', `/events/jobs/${body.jobId}`, other)).status, 404)
})

for (const name of ['stats', 'names', 'contact', 'track', 'usage', 'jobs']) {
  test(`an event may have the name ${name}`, async () => {
    await addEvents({ name })
    assert.equal((await get(`/events/${name}/usage`)).totalCount, 1)
    assert.deepEqual((await call('delete', `/events/${name}`)).body, { deletedCount: 1 })
  })
}

test('/events/contact/:contactId accepts only ids of contacts', async () => {
  await addEvents({ name: 'contact' })
  for (const word of ['stats', 'names', '1', 'usage%2F', encodeURIComponent('../x')]) {
    assert.equal((await call('get', `/events/contact/${word}`)).status, 404, word)
  }
})

test('any event is found by its percent-encoded name', async () => {
  const names = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      const tracked = await call('post', '/events/track').send({ name })
      if (tracked.status !== 201) return assert.match(name, unsayable)
      const eventPath = `/events/${encodeURIComponent(name)}`
      assert.equal((await get(`${eventPath}/usage`)).totalCount, 1)
      assert.deepEqual((await call('delete', eventPath)).body, { deletedCount: 1 })
    }),
    {
      numRuns: 40,
      examples: [['a/b'], ['100%'], ['%25'], ['%2F'], ['a?b#c'], ['ä 😀'], ['..a'], ['..']],
    },
  )
})

/** A path has no way to say `.` and `..`; half characters have no encoding. */
const unsayable = /[\p{Cc}\p{Cs}]|^\.{1,2}$/u

test('every route of events requires the secret key', async () => {
  for (const path of ['', '/stats', '/names', '/x/usage', `/contact/${newId()}`]) {
    assert.equal((await call('get', `/events${path}`, { secret: mine.public })).status, 401, path)
  }
  assert.equal(
    (await call('post', '/events/track', { secret: mine.public }).send({ name: 'x' })).status,
    401,
  )
  assert.equal((await call('delete', '/events/x', { secret: mine.public })).status, 401)
})
