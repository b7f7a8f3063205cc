import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import fc from 'fast-check'
import supertest from 'supertest'
import { updateProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { idempotencyKeys } from '../../../src/store/schema/service.ts'
import { suppressions } from '../../../src/store/schema/suppressions.ts'
import { useService } from '../service.ts'

const { service, mine, other, call } = useService({}, ({ service, mine }) =>
  // Without this, the public key gets no id of a contact: `public-key.test.ts`.
  updateProject(service.core, mine.id, { publicKeyMayUpdate: true }),
)

beforeEach(() =>
  service.core.store.write(async (tx) => {
    for (const table of [events, contacts, idempotencyKeys, suppressions]) await tx.delete(table)
  }),
)

const valid = { event: 'signup', email: ' Reader@Example.NET ' }

const track = (body: object, key = mine.public) =>
  call('post', '/v1/track', { secret: key }).send(body)

const read = () => service.core.store.read
const allContacts = () => read().select().from(contacts).all()
const allEvents = () => read().select().from(events).orderBy(events.seq).all()
const eventNames = async () => (await allEvents()).map(({ name }) => name)

async function nothingWritten(): Promise<void> {
  assert.deepEqual([await allContacts(), await allEvents()], [[], []])
  assert.deepEqual(await read().select().from(idempotencyKeys).all(), [])
}

for (const kind of ['public', 'secret'] as const) {
  test(`the ${kind} key tracks an event and creates a subscribed contact`, async () => {
    const { status, body, headers } = await track({ ...valid, data: { plan: 'pro' } }, mine[kind])
    assert.equal(status, 200)
    assert.equal(headers['access-control-allow-origin'], '*')
    const [contact, ...others] = await allContacts()
    const [event, ...more] = await allEvents()
    assert.deepEqual([others, more], [[], []])
    const data = {
      contact: contact?.id,
      event: event?.id,
      timestamp: new Date(event?.createdAt ?? 0).toISOString(),
    }
    // Older clients read the three at the top level.
    assert.deepEqual(body, { success: true, data, ...data })
    assert.deepEqual(
      [contact?.address, contact?.subscribed, contact?.data, contact?.projectId],
      ['reader@example.net', true, { plan: 'pro' }, mine.id],
    )
    assert.deepEqual(
      [event?.name, event?.contactId, event?.projectId, event?.emailId, event?.data],
      ['signup', contact?.id, mine.id, null, { plan: 'pro' }],
    )
  })
}

test('the event stores its data unchanged; the contact follows the rules for data', async () => {
  await track({ ...valid, data: { city: 'Oslo', plan: 'free' } })
  const text =
    '{"code":{"value":"X1","persistent":false},"kept":{"value":"Y2","persistent":true},' +
    '"city":null,"plan":"","email":"no@example.net","constructor":{"a":1},"list":[1,{"two":2}]}'
  await track({ ...valid, data: JSON.parse(text) })
  const [contact] = await allContacts()
  assert.equal(
    JSON.stringify(contact?.data),
    '{"plan":"free","kept":{"value":"Y2","persistent":true},"constructor":{"a":1},"list":[1,{"two":2}]}',
  )
  assert.equal(JSON.stringify((await allEvents())[1]?.data), text)
})

test('data that is no object is stored with the event as given and changes no contact', async () => {
  const given = [[], [1, { plan: 'pro' }], 'text', '', 7, true, null]
  for (const data of given) {
    const { status, body } = await track({ ...valid, data })
    assert.equal(status, 200)
    const received = Array.isArray(data) ? 'array' : typeof data
    const text = `Expected an object, received ${received}: the event has it, and the contact gets no data`
    const isNone = ['null', '[]', '""'].includes(JSON.stringify(data))
    const warnings = isNone ? undefined : [text]
    assert.deepEqual(
      body.warnings?.map(({ message }: { message: string }) => message),
      warnings,
    )
    assert.deepEqual(
      body.data.warnings,
      warnings?.map((message) => `data: ${message}`),
    )
  }
  assert.deepEqual((await allContacts())[0]?.data, null)
  assert.deepEqual(
    (await allEvents()).map(({ data }) => data as unknown),
    given,
  )
  const { body } = await supertest(service.url)
    .get('/events?eventName=signup')
    .set('Authorization', `Bearer ${mine.secret}`)
  assert.deepEqual(
    body.events.map(({ data }: { data: unknown }) => data),
    given.toReversed(),
  )
})

test('data that is a large text is refused like any other large data', async () => {
  const { status, body } = await track({ ...valid, data: 'x'.repeat(70_000) })
  assert.deepEqual([status, body.error.errors[0].field], [422, 'data'])
  await nothingWritten()
})

test('unknown fields are named in warnings, with suggestions', async () => {
  const { body } = await track({ ...valid, properties: { plan: 'pro' }, subscribd: false })
  assert.deepEqual(body.data.warnings, [
    '"properties": unknown field, ignored; did you mean "data"?',
    '"subscribd": unknown field, ignored; did you mean "subscribed"?',
  ])
  assert.equal((await allContacts())[0]?.subscribed, true)
})

test('`subscribed` changes an existing contact and emits an event; without it the state stays', async () => {
  await track({ ...valid, subscribed: false })
  assert.deepEqual(await eventNames(), ['signup'])
  await track(valid)
  assert.equal((await allContacts())[0]?.subscribed, false)
  await track({ ...valid, subscribed: true })
  await track({ ...valid, subscribed: true })
  await track({ ...valid, subscribed: false })
  assert.equal((await allContacts())[0]?.subscribed, false)
  const expected = ['signup', 'signup', 'contact.subscribed', 'signup', 'signup']
  assert.deepEqual(await eventNames(), [...expected, 'contact.unsubscribed', 'signup'])
})

test('a double opt-in form creates an unsubscribed contact and never reverts a confirmation', async () => {
  const form = { ...valid, subscribed: false, preserveExistingSubscription: true }
  await track(form)
  assert.equal((await allContacts())[0]?.subscribed, false)
  await track({ ...valid, event: 'confirmed', subscribed: true })
  await track({ ...form, data: { city: 'Oslo' } })
  const [contact] = await allContacts()
  assert.deepEqual([contact?.subscribed, contact?.data], [true, { city: 'Oslo' }])
  assert.ok(!(await eventNames()).includes('contact.unsubscribed'))
})

test('one of several concurrent calls creates the contact, and only its subscription counts', async () => {
  const calls = Array.from({ length: 12 }, (_, index) =>
    track({
      ...valid,
      subscribed: index % 2 === 0,
      preserveExistingSubscription: true,
      data: { [`k${index}`]: index },
    }),
  )
  const ids = new Set((await Promise.all(calls)).map(({ body }) => body.data.contact))
  const [contact, ...others] = await allContacts()
  assert.deepEqual([[...ids], others], [[contact?.id], []])
  assert.equal(Object.keys(contact?.data ?? {}).length, 12)
  assert.deepEqual(new Set(await eventNames()), new Set(['signup']))
  assert.equal((await allEvents()).length, 12)
})

test('a new contact of a suppressed address is not subscribed by default', async () => {
  await service.core.store.write((tx) =>
    tx.insert(suppressions).values({
      ...{ id: 's', projectId: mine.id, address: 'reader@example.net', reason: 'COMPLAINT' },
      ...{ source: 'test', emailId: null, createdAt: 1 },
    }),
  )
  await track(valid)
  assert.equal((await allContacts())[0]?.subscribed, false)
})

const reserved = ['email.', 'email.sent', 'contact.subscribed', 'contact.unsubscribed']
const own = ['workflow.started', 'workflow.completed', 'webhook.disabled', 'campaign.sent']
for (const event of [...reserved, ...own, 'segment.vip.entry', 'segment.a.b.exit']) {
  test(`${event} is reserved: the refusal names it, and nothing is written`, async () => {
    const { status, body } = await track({ ...valid, event }).set('Idempotency-Key', 'k')
    assert.equal(status, 422)
    const [{ message, ...error }, ...others] = body.error.errors
    assert.ok(message.includes(event))
    assert.deepEqual(others, [])
    assert.deepEqual(error, { field: 'event', code: 'reserved_event', received: event })
    assert.deepEqual([body.error.code, body.code], ['VALIDATION_ERROR', 422])
    assert.match(body.error.message, /^event: /)
    await nothingWritten()
  })
}

const free = [
  'contact.created',
  'segment.foo',
  '...',
  'Email.sent',
  'emails',
  'stats',
  'names',
  'contact',
]
test(`${free.join(', ')} are ordinary names`, async () => {
  for (const event of free) assert.equal((await track({ ...valid, event })).status, 200, event)
  assert.deepEqual(await eventNames(), free)
})

const wrong: [object, string, string][] = [
  [{ event: '' }, 'event', 'too_small'],
  [{ event: undefined }, 'event', 'invalid_type'],
  [{ event: 7 }, 'event', 'invalid_type'],
  [{ event: 'a\nb' }, 'event', 'invalid_string'],
  [{ event: 'a\u0000' }, 'event', 'invalid_string'],
  [{ event: 'half \ud800' }, 'event', 'invalid_string'],
  [{ event: '.' }, 'event', 'invalid_string'],
  [{ event: '..' }, 'event', 'invalid_string'],
  [{ event: 'x'.repeat(256) }, 'event', 'too_big'],
  [{ email: undefined }, 'email', 'invalid_type'],
  [{ email: 'nobody' }, 'email', 'invalid_string'],
  [{ email: `${'x'.repeat(65_536)}@example.net` }, 'email', 'invalid_string'],
  [{ subscribed: 'yes' }, 'subscribed', 'invalid_type'],
  [{ preserveExistingSubscription: 1 }, 'preserveExistingSubscription', 'invalid_type'],
  [{ data: { x: 'x'.repeat(70_000) } }, 'data', 'too_big'],
  [{ data: { locale: 7 } }, 'data.locale', 'invalid_type'],
]
for (const [change, field, code] of wrong) {
  test(`${JSON.stringify(change).slice(0, 40)} is refused for ${field}, and nothing is written`, async () => {
    const { status, body } = await track({ ...valid, ...change })
    assert.equal(status, 422)
    const errors: { field: string; code: string }[] = body.error.errors
    assert.deepEqual(
      errors.map((each) => [each.field, each.code]),
      [[field, code]],
    )
    await nothingWritten()
  })
}

test('without a key, or with another project\u2019s contact in mind, nothing of it is touched', async () => {
  const bare = await supertest(service.url).post('/v1/track').send(valid)
  assert.equal(bare.body.error.code, 'MISSING_AUTH')
  await nothingWritten()
  await track({ ...valid, data: { plan: 'theirs' } }, other.public)
  await track({ ...valid, subscribed: false })
  const byProject = new Map((await allContacts()).map((each) => [each.projectId, each]))
  assert.deepEqual(byProject.get(other.id)?.data, { plan: 'theirs' })
  assert.deepEqual(
    [byProject.get(other.id)?.subscribed, byProject.get(mine.id)?.subscribed],
    [true, false],
  )
})

test('an idempotency key counts for tracking and sending together, and is free after a refusal', async () => {
  const refused = await track({ ...valid, event: 'email.x' }).set('Idempotency-Key', 'order-66')
  assert.equal(refused.status, 422)
  const first = await track(valid).set('Idempotency-Key', 'order-66')
  assert.equal(first.status, 200)
  const again = await track(valid).set('Idempotency-Key', 'order-66')
  assert.equal(again.status, 409)
  assert.equal(again.body.error.details.originalRequest, 'POST /v1/track')
  assert.deepEqual(again.body.error.details.data, first.body.data)
  const send = await supertest(service.url)
    .post('/v1/send')
    .set('Authorization', `Bearer ${mine.secret}`)
    .set('Idempotency-Key', 'order-66')
    .send({ to: 'a@b.example', from: 'a@b.test', subject: 's', body: 'b' })
  assert.equal(send.body.error.code, 'IDEMPOTENCY_KEY_REUSED')
  assert.equal((await track(valid, other.public).set('Idempotency-Key', 'order-66')).status, 200)
  assert.equal((await allEvents()).length, 2)
  const bad = await track(valid).set('Idempotency-Key', 'x'.repeat(256))
  assert.deepEqual([bad.status, bad.body.error.code], [400, 'BAD_REQUEST'])
})

test('one of two simultaneous calls with one key takes effect', async () => {
  const calls = [1, 2, 3].map(() => track(valid).set('Idempotency-Key', 'race'))
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [200, 409, 409])
  assert.equal((await allEvents()).length, 1)
})

test('the preflight request of a browser is allowed', async () => {
  const { status, headers } = await supertest(service.url).options('/v1/track')
  assert.equal(status, 200)
  assert.match(headers['access-control-allow-methods'] ?? '', /POST/)
})

test('any body gets a success or an error with a code', async () => {
  const anything = fc.record(
    { event: fc.anything(), email: fc.anything(), data: fc.anything(), subscribed: fc.anything() },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(anything, async (body) => {
      const { status, body: response } = await track(JSON.parse(JSON.stringify(body)))
      if (status === 200) return
      assert.equal(status, 422)
      assert.equal(response.error.code, 'VALIDATION_ERROR')
    }),
    { numRuns: 60 },
  )
})
