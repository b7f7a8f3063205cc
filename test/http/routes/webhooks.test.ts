import assert from 'node:assert/strict'
import { beforeEach, test } from 'node:test'
import { readSigningSecret } from '../../../src/features/outreach/webhooks/signing-secret.ts'
import { createSegment } from '../../../src/features/people/segments/edit-segment.ts'
import type { HttpClient, HttpRequest, HttpResult } from '../../../src/outbound/http/client.ts'
import { createWebhookClient } from '../../../src/outbound/http/clients.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { webhookDeliveries, webhookEndpoints } from '../../../src/store/schema/webhooks.ts'
import { addDelivery } from '../../features/outreach/webhooks/add-delivery.ts'
import { useService } from '../service.ts'

const asked: HttpRequest[] = []
let result: (url: URL) => HttpResult
const real = createWebhookClient({
  resolver: {} as never,
  config: {
    webhooks: { allowPrivateNetworks: false },
    http: { listen: { host: '0.0.0.0', port: 80, isTls: false }, trustedProxies: [] },
    baseUrl: 'https://mail.example.test',
    delivery: { mode: 'direct' },
  },
})
const webhookClient: HttpClient = {
  ...real,
  request: async (request) => {
    asked.push(request)
    return result(request.url)
  },
}

const { service, mine, other, call } = useService({ webhookClient })

beforeEach(async () => {
  asked.length = 0
  result = (url) => answer(url, 200, 'ok')
  await service.core.store.write((tx) => tx.delete(webhookEndpoints))
})

const hook = { url: 'https://hooks.test/in', events: ['email.*'] }
const create = (body: object = hook, by = mine) =>
  call('post', '/webhooks/endpoints', by).send(body)
const path = (id: string, rest = '') => `/webhooks/endpoints/${id}${rest}`

function answer(url: URL, status: number, text: string): HttpResult {
  return { kind: 'response', url, status, headers: {}, body: Buffer.from(text), isCut: false }
}

async function made(body: object = hook): Promise<string> {
  return (await create(body)).body.id
}

const add = (endpointId: string) => addDelivery(service.core, { projectId: mine.id, endpointId })

test('an endpoint is created with a secret that is shown once, and stored sealed', async () => {
  const { status, body } = await create({ ...hook, description: 'A shop' })
  assert.equal(status, 201)
  const { secret, ...record } = body
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.deepEqual(record, {
    ...{ id: body.id, ...hook, description: 'A shop', enabled: true, disabledReason: null },
    ...{ failingSince: null, lastSuccessAt: null, projectId: mine.id },
    ...{ createdAt: body.createdAt, updatedAt: body.createdAt },
  })
  const got = await call('get', path(body.id))
  assert.deepEqual([got.status, got.body], [200, record])
  const list = await call('get', '/webhooks/endpoints')
  assert.deepEqual(list.body, { data: [record], total: 1 })
  const [row] = await service.core.store.read.select().from(webhookEndpoints)
  assert.ok(!JSON.stringify(row).includes(secret))
})

const wrong: [string, object, string, string][] = [
  ['no url', { events: ['*'] }, 'url', 'invalid_type'],
  ['no events', { url: hook.url }, 'events', 'invalid_type'],
  ['an empty list', { ...hook, events: [] }, 'events', 'too_small'],
  ['51 events', { ...hook, events: Array.from({ length: 51 }, () => 'a') }, 'events', 'too_big'],
  ['an empty name', { ...hook, events: [''] }, 'events.0', 'too_small'],
  ['a name of 256', { ...hook, events: ['a'.repeat(256)] }, 'events.0', 'too_big'],
  ['a control character', { ...hook, events: ['a\u0000b'] }, 'events.0', 'invalid_string'],
  ['a line break', { ...hook, events: ['a\n.*'] }, 'events.0', 'invalid_string'],
  ['a lone surrogate', { ...hook, events: ['a\ud800'] }, 'events.0', 'invalid_string'],
  ['a star within', { ...hook, events: ['segment.*.entry'] }, 'events.0', 'custom'],
  ['a star before', { ...hook, events: ['*.open'] }, 'events.0', 'custom'],
  ['no URL', { ...hook, url: 'hooks' }, 'url', 'custom'],
  ['another protocol', { ...hook, url: 'ftp://hooks.test' }, 'url', 'custom'],
  ['a user', { ...hook, url: 'https://me@hooks.test' }, 'url', 'custom'],
  ['a long URL', { ...hook, url: `https://hooks.test/${'a'.repeat(2_030)}` }, 'url', 'too_big'],
  ['loopback', { ...hook, url: 'http://127.0.0.1/' }, 'url', 'custom'],
  ['loopback as a number', { ...hook, url: 'http://2130706433/' }, 'url', 'custom'],
  ['a private address', { ...hook, url: 'http://192.168.0.1/' }, 'url', 'custom'],
  ['metadata', { ...hook, url: 'http://169.254.169.254/' }, 'url', 'custom'],
  ['mapped loopback', { ...hook, url: 'http://[::ffff:7f00:1]/' }, 'url', 'custom'],
  ['NAT64', { ...hook, url: 'http://[64:ff9b::7f00:1]/' }, 'url', 'custom'],
  ['a long text', { ...hook, description: 'a'.repeat(501) }, 'description', 'too_big'],
  ['no boolean', { ...hook, enabled: 'yes' }, 'enabled', 'invalid_type'],
]
for (const [what, body, field, code] of wrong) {
  test(`an endpoint with ${what} is refused, when it is created and changed`, async () => {
    const refused = await create(body)
    assert.deepEqual(
      [refused.status, refused.body.error.code, refused.body.error.errors[0].field],
      [422, 'VALIDATION_ERROR', field],
    )
    assert.equal(refused.body.error.errors[0].code, code)
    assert.equal(await service.core.store.read.$count(webhookEndpoints), 0)
    if (what.startsWith('no ')) return
    const changed = await call('patch', path(await made())).send(body)
    assert.deepEqual([changed.status, changed.body.error.errors[0].field], [422, field])
  })
}

test('malformed JSON is 400', async () => {
  const refused = await call('post', '/webhooks/endpoints')
    .set('Content-Type', 'application/json')
    .send('{"url"')
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'VALIDATION_ERROR'])
})

test('names may be aliases, patterns and all', async () => {
  const events = ['email.opened', 'segment.*', '*', 'order placed', '__proto__']
  assert.deepEqual((await create({ ...hook, events })).body.events, events)
})

test('a project has at most 20 endpoints; deleted ones do not count', async () => {
  const ids = []
  for (let count = 0; count < 20; count += 1) ids.push(await made())
  const refused = await create()
  assert.deepEqual([refused.status, refused.body.error.code], [400, 'BAD_REQUEST'])
  assert.equal((await create(hook, other)).status, 201)
  assert.equal((await call('delete', path(ids[0]!))).status, 204)
  assert.equal((await create()).status, 201)
  assert.equal((await call('get', path(ids[0]!))).status, 404)
})

test("S20: another project's endpoint is unknown, in every call", async () => {
  const id = await made()
  const delivery = await add(id)
  const since = { since: new Date().toISOString() }
  const calls: ['get' | 'post' | 'patch' | 'delete', string, object?][] = [
    ['get', ''],
    ['patch', '', { description: 'mine' }],
    ['delete', ''],
    ['post', '/rotate-secret'],
    ['post', '/test'],
    ['get', '/deliveries'],
    ['post', `/deliveries/${delivery}/replay`],
    ['post', '/replay', since],
    ['get', '/replay/x'],
  ]
  const before = await call('get', path(id))
  for (const [method, rest, body] of calls) {
    const { status } = await call(method, path(id, rest), other).send(body)
    assert.equal(status, 404, `${method} ${rest}`)
  }
  assert.deepEqual((await call('get', path(id))).body, before.body)
  assert.deepEqual(asked, [])
})

test('a change keeps what it does not name; null removes the description', async () => {
  const id = await made({ ...hook, description: 'A shop' })
  const changed = await call('patch', path(id)).send({ events: ['*'] })
  assert.deepEqual(
    [changed.body.url, changed.body.events, changed.body.description],
    [hook.url, ['*'], 'A shop'],
  )
  const emptied = await call('patch', path(id)).send({ description: null })
  assert.equal(emptied.body.description, null)
})

test('disabling fails what waits, at once and in each list; enabling sends nothing again', async () => {
  const id = await made()
  await add(id)
  const off = await call('patch', path(id)).send({ enabled: false })
  assert.deepEqual([off.body.enabled, off.body.disabledReason], [false, null])
  const list = await call('get', path(id, '/deliveries'))
  assert.deepEqual(
    list.body.data.map((row: Record<string, unknown>) => [
      row.status,
      row.error,
      row.nextAttemptAt,
    ]),
    [['FAILED', 'the endpoint was disabled', null]],
  )
  const waiting = await call('get', path(id, '/deliveries?status=PENDING'))
  assert.deepEqual(waiting.body.data, [])
  const on = await call('patch', path(id)).send({ enabled: true })
  assert.equal(on.body.enabled, true)
  const again = await call('get', path(id, '/deliveries'))
  assert.equal(again.body.data[0].status, 'FAILED')
})

test('a test is sent now and returns its result, also of a disabled endpoint', async () => {
  const id = await made({ ...hook, enabled: false })
  const good = await call('post', path(id, '/test'))
  assert.deepEqual(
    [good.status, good.body.status, good.body.statusCode, good.body.event, good.body.attempts],
    [200, 'SUCCEEDED', 200, 'webhook.test', 1],
  )
  const [{ headers = {}, body = '' } = {}] = asked
  const payload = JSON.parse(String(body))
  assert.equal(headers['webhook-id'], good.body.eventId)
  assert.deepEqual(
    [payload.type, payload.data.id, payload.data.data.endpointId, payload.data.contact],
    ['webhook.test', good.body.eventId, id, null],
  )
  assert.notEqual((await call('get', path(id))).body.lastSuccessAt, null)
  result = (url) => answer(url, 500, 'broken')
  const bad = await call('post', path(id, '/test'))
  assert.deepEqual(
    [bad.body.status, bad.body.error, bad.body.response, bad.body.nextAttemptAt],
    ['FAILED', 'the server answered 500', 'broken', null],
  )
  assert.equal((await call('get', path(id))).body.failingSince, null)
  const replayed = await call('post', path(id, `/deliveries/${bad.body.id}/replay`))
  assert.equal(replayed.status, 400)
})

test('deliveries are listed newest first, by status and by cursor', async () => {
  const id = await made()
  const ids: string[] = []
  for (let count = 0; count < 5; count += 1) ids.unshift(await add(id))
  const succeed = { status: 'SUCCEEDED' as const, dueAt: null, attempts: 1, completedAt: 5 }
  await service.core.store.write((tx) =>
    tx.update(webhookDeliveries).set(succeed).where(eq(webhookDeliveries.id, ids[2]!)),
  )
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const query: string = cursor === '' ? '?limit=2' : `?limit=2&cursor=${cursor}`
    const { body, status } = await call('get', path(id, `/deliveries${query}`))
    assert.equal(status, 200)
    seen.push(...body.data.map((row: { id: string }) => row.id))
    assert.equal(body.hasMore, body.cursor !== null)
    cursor = body.cursor
  }
  assert.deepEqual(seen, ids)
  const done = await call('get', path(id, '/deliveries?status=SUCCEEDED'))
  assert.deepEqual(
    done.body.data.map((row: { id: string }) => row.id),
    [ids[2]],
  )
  const after = await call('get', path(id, `/deliveries?cursor=${ids[3]}`))
  assert.deepEqual(
    after.body.data.map((row: { id: string }) => row.id),
    [ids[4]],
  )
  for (const query of ['cursor=nonsense', 'status=LOST', 'limit=0']) {
    assert.equal((await call('get', path(id, `/deliveries?${query}`))).status, 422, query)
  }
})

test('a replay makes a new delivery of the same event, or brings one that waits forward', async () => {
  const id = await made()
  const delivery = await add(id)
  const late = { dueAt: Date.now() + 3_600_000, attempts: 2 }
  await service.core.store.write((tx) => tx.update(webhookDeliveries).set(late))
  const soon = await call('post', path(id, `/deliveries/${delivery}/replay`))
  assert.deepEqual([soon.status, soon.body.id], [202, delivery])
  assert.ok(Date.parse(soon.body.nextAttemptAt) <= Date.now())
  const ended = { status: 'FAILED' as const, dueAt: null, completedAt: 5 }
  await service.core.store.write((tx) => tx.update(webhookDeliveries).set(ended))
  const again = await call('post', path(id, `/deliveries/${delivery}/replay`))
  assert.notEqual(again.body.id, delivery)
  assert.deepEqual(
    [again.status, again.body.eventId, again.body.status, again.body.attempts],
    [202, soon.body.eventId, 'PENDING', 0],
  )
  assert.equal((await call('post', path(id, '/deliveries/unknown/replay'))).status, 404)
  await call('patch', path(id)).send({ enabled: false })
  const off = await call('post', path(id, `/deliveries/${delivery}/replay`))
  assert.deepEqual([off.status, off.body.error.code], [400, 'BAD_REQUEST'])
})

test('a span to replay begins at most 30 days ago and does not end before', async () => {
  const id = await made()
  const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString()
  const wrong: [object, string][] = [
    [{}, 'since'],
    [{ since: days(31) }, 'since'],
    [{ since: 'soon' }, 'since'],
    [{ since: days(1), until: days(2) }, 'until'],
  ]
  for (const [body, field] of wrong) {
    const refused = await call('post', path(id, '/replay')).send(body)
    assert.deepEqual([refused.status, refused.body.error.errors[0].field], [422, field])
  }
  const started = await call('post', path(id, '/replay')).send({ since: days(30) })
  assert.equal(started.status, 202)
  const state = await call('get', path(id, `/replay/${started.body.jobId}`))
  assert.deepEqual([state.status, state.body.data.endpointId], [200, id])
})

test('a rotation shows the new secret and until when the previous one signs', async () => {
  const { body: first } = await create()
  const { status, body } = await call('post', path(first.id, '/rotate-secret'))
  assert.equal(status, 200)
  assert.notEqual(body.secret, first.secret)
  const hours = (Date.parse(body.previousSecretUntil) - Date.now()) / 3_600_000
  assert.ok(hours > 23.9 && hours <= 24)
})

test('the signing secret of workflows is made once, shown again, and rotated', async () => {
  const first = await call('get', '/webhooks/signing-secret')
  assert.deepEqual(
    [first.status, first.body.previousSecretUntil, /^whsec_/.test(first.body.secret)],
    [200, null, true],
  )
  assert.deepEqual((await call('get', '/webhooks/signing-secret')).body, first.body)
  const { body: rotated } = await call('post', '/webhooks/signing-secret/rotate')
  assert.notEqual(rotated.secret, first.body.secret)
  assert.deepEqual((await call('get', '/webhooks/signing-secret')).body, rotated)
  const foreign = await readSigningSecret(service.core, other.id)
  assert.notEqual(foreign.secret, rotated.secret)
})

test('ids that are no UUIDs are 422', async () => {
  assert.equal((await call('get', path('1'))).status, 422)
})

test('a subscription to events of a segment that do not occur is warned of', async () => {
  const filters = [{ field: 'data.a', operator: 'exists' }]
  await createSegment(service.core, {
    ...{ projectId: mine.id, name: 'VIP', hasMembershipEvents: true },
    condition: { logic: 'AND', groups: [{ filters }] },
  })
  const own = ['segment.checkout.*', 'segment.checkout.started']
  const right = ['segment.*', 'segment.vip.entry', 'segment.vip.*', '*', 'segment.shape', ...own]
  const sound = await create({ ...hook, events: right })
  assert.deepEqual([sound.status, sound.body.warnings], [201, undefined])
  const { body } = await create({ ...hook, events: ['email.*', 'segment.vips.exit'] })
  assert.deepEqual(body.warnings, [
    {
      field: 'events.1',
      message:
        'There is no segment whose events are named by "vips". Did you mean segment.vip.exit? ' +
        'Correct the name, or create the segment: the name of the events follows from its name.',
      suggestion: 'segment.vip.exit',
    },
  ])
  const changed = await call('patch', path(body.id)).send({ events: ['segment.vips.*'] })
  assert.deepEqual([changed.status, changed.body.warnings?.[0].field], [200, 'events.0'])
  assert.equal((await call('get', path(body.id))).body.warnings, undefined)
})

test('an alias has a warning with the type that deliveries have', async () => {
  const { status, body } = await create({ ...hook, events: ['email.delivered', 'email.open'] })
  assert.equal(status, 201)
  const message = 'The deliveries have the type email.delivery.'
  const warnings = [{ field: 'events.0', message, suggestion: 'email.delivery' }]
  assert.deepEqual(body.warnings, warnings)
  const events = ['email.delivered', 'email.clicked']
  const changed = await call('patch', path(body.id)).send({ events })
  assert.deepEqual(
    changed.body.warnings.map(({ suggestion }: { suggestion: string }) => suggestion),
    ['email.delivery', 'email.click'],
  )
})

test('a name that nobody has made an event of has a warning if it looks misspelt', async () => {
  await call('post', '/v1/track').send({ email: 'a@example.net', event: 'purchase' })
  await call('post', '/v1/track').send({ email: 'a@example.net', event: 'contact.moved' })
  const meant: [name: string, suggestion: string | null][] = [
    ['EMAIL.*', 'email.*'],
    ['email', 'email.*'],
    ['Contact.Subscribed', 'contact.subscribed'],
    ['contact.created', null],
    ['contacts.*', 'contact.*'],
    ['campaign.sended', 'campaign.sent'],
    ['purchse', 'purchase'],
  ]
  const { status, body } = await create({ ...hook, events: meant.map(([name]) => name) })
  assert.equal(status, 201)
  assert.deepEqual(
    body.warnings.map(({ field, suggestion }: Record<string, string>) => [field, suggestion]),
    meant.map(([, suggestion], index) => [`events.${index}`, suggestion]),
  )
  const none = 'The service makes no such event, and none has been tracked here.'
  assert.equal(body.warnings[0].message, `${none} Did you mean email.*?`)
  assert.equal(body.warnings[3].message, none)
  const events = ['purchase', 'contact.moved', 'contact.*', 'order placed', 'order.*', 'webhook.*']
  const sound = await create({ ...hook, events })
  assert.deepEqual([sound.status, sound.body.warnings], [201, undefined])
})
