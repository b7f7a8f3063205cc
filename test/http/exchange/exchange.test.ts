import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  Agent,
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
} from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import supertest from 'supertest'
import { z } from 'zod'
import { AppError } from '../../../src/base/errors.ts'
import { createLog } from '../../../src/base/log.ts'
import type { RequestLogEntry } from '../../../src/features/ground/requests/log.ts'
import { createRateLimiter } from '../../../src/features/ground/requests/rate-limit.ts'
import { regenerateKeys } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { createBodyAllowance, FREE_BODY_BYTES } from '../../../src/http/body/body-allowance.ts'
import { createAnswerAllowance } from '../../../src/http/exchange/answer-allowance.ts'
import { createCompressor } from '../../../src/http/exchange/compression/compress.ts'
import type { ExchangeDeps } from '../../../src/http/exchange/exchange.ts'
import { createTraffic } from '../../../src/http/exchange/traffic.ts'
import { mount } from '../../../src/http/mount.ts'
import { json } from '../../../src/http/response.ts'
import {
  callerRoute,
  DEFAULT_BODY_BYTES,
  openOperation,
  openRoute,
  projectOperation,
  type Route,
} from '../../../src/http/route.ts'
import { createAddressList } from '../../../src/http/server/client-address.ts'
import { eq } from '../../../src/store/drizzle.ts'
import { unwatchedDisk } from '../../../src/store/files/disk.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { currentOwner, type WorkOwner } from '../../../src/turns/owner.ts'
import { addProject, openTestCore, START, type TestCore, type TestProject } from '../../core.ts'
import { cleanUpAfterFile } from '../../file-cleanup.ts'

const seen = {
  ...{ calls: 0, entries: [] as RequestLogEntry[], logged: '', given: [] as string[] },
  /** Bodies that were read. */
  bodies: 0,
  grownTo: 0,
}
const state = { at: START, elapsedMs: 0, isDiskLow: false }
let stopping = new AbortController()
let limiter = createRateLimiter(0, Date.now)

const cleanup = cleanUpAfterFile()
let core: TestCore
let project: TestProject
let bearer: string

async function openExchangeCore(): Promise<void> {
  const log = createLog(
    'info',
    { write: (line: string) => (seen.logged += line) },
    { elapsed: () => state.elapsedMs },
  )
  const disk = { ...unwatchedDisk, isLow: () => state.isDiskLow }
  const opened = await openTestCore(cleanup, { parts: { log, disk }, now: () => state.at })
  core = opened
  project = await addProject(opened)
  bearer = `Bearer ${project.secret}`
}

function called(body: unknown) {
  seen.calls += 1
  return json(200, body)
}

const shown = ({ key, isJob }: WorkOwner) => ({ key, isJob })

/** Yields the caller of each piece, and whether it belongs to the same request. */
async function* streamCallers(first: object | undefined): AsyncGenerator<Uint8Array> {
  for (let piece = 0; piece < 3; piece += 1) {
    const owner = currentOwner()
    yield Buffer.from(`${JSON.stringify(shown(owner))} ${owner === first}\n`)
    await new Promise(setImmediate)
  }
}

/** An endless body that records the calls of its iterator. */
function recordReads(): AsyncIterable<Uint8Array> {
  const record = async (asked: string, done: boolean) => {
    seen.given.push(asked)
    return { done, value: Buffer.from('x') }
  }
  const iterator = { next: () => record('next', false), return: () => record('return', true) }
  return { [Symbol.asyncIterator]: () => iterator as AsyncIterator<Uint8Array> }
}

const shared = { tag: 'Test', summary: 'A test', responses: {} }
const thing = z.object({ name: z.string(), data: z.unknown().optional() })
const routes: Route[] = [
  callerRoute(
    { method: 'POST', path: '/v1/things', callers: 'secret key' },
    projectOperation({
      ...shared,
      body: thing,
      takesIdempotencyKey: true,
      handle: ({ body, idempotencyKey, project: { id } }) => called({ body, idempotencyKey, id }),
    }),
  ),
  callerRoute(
    { method: 'POST', path: '/v1/events', callers: 'any key' },
    projectOperation({
      ...shared,
      handle: () => called({}),
    }),
  ),
  callerRoute(
    { method: 'GET', path: '/things/:id', callers: 'secret key' },
    projectOperation({
      ...shared,
      handle: ({ params }) => called(params),
    }),
  ),
  callerRoute(
    { method: 'DELETE', path: '/named/:eventName', callers: 'secret key' },
    projectOperation({
      ...shared,
      handle: ({ params }) => called(params),
    }),
  ),
  callerRoute(
    { method: 'GET', path: '/named/:eventName', callers: 'secret key' },
    projectOperation({
      ...shared,
      handle: ({ params }) => called(params),
    }),
  ),
  callerRoute(
    { method: 'GET', path: '/asked', callers: 'secret key' },
    projectOperation({
      ...shared,
      query: z.object({
        search: z.string().min(1).optional(),
        type: z.enum(['A']).optional(),
        someId: z.string().min(1).optional(),
        limit: z.string().min(1),
      }),
      handle: ({ query }) => called(query),
    }),
  ),
  callerRoute(
    { method: 'GET', path: '/callers', callers: 'secret key' },
    projectOperation({
      ...shared,
      handle: () => ({ status: 200, body: streamCallers(currentOwner()), headers: {} }),
    }),
  ),
  callerRoute(
    { method: 'GET', path: '/given-up', callers: 'secret key' },
    projectOperation({
      ...shared,
      handle: () => ({ status: 200, body: recordReads(), headers: {} }),
    }),
  ),
  openRoute(
    { method: 'GET', path: '/stranger' },
    openOperation({
      ...shared,
      handle: () => json(200, shown(currentOwner())),
    }),
  ),
  openRoute(
    { method: 'GET', path: '/broken' },
    openOperation({
      ...shared,
      handle: () => {
        throw new Error('password of the database is hunter2')
      },
    }),
  ),
  openRoute(
    { method: 'GET', path: '/busy' },
    openOperation({
      ...shared,
      handle: () => {
        throw new AppError('EXTERNAL_SERVICE_ERROR', 'No answer', { details: { retryAfter: 7.2 } })
      },
    }),
  ),
]

let server: Server

before(async () => {
  await openExchangeCore()
  const window = { take: (caller: string) => limiter.take(caller), size: () => 0 }
  const bodies = createBodyAllowance({ totalBytes: 1e8, addressBytes: 1e8, keyBytes: 1e8 })
  const deps: ExchangeDeps = {
    core,
    proxies: createAddressList([]),
    monitors: createAddressList([]),
    findOtherHost: () => undefined,
    version: '0.0.0',
    limiters: { keys: window, sessions: window },
    traffic: createTraffic(),
    bodies: {
      open(owner) {
        seen.bodies += 1
        const share = bodies.open(owner)
        const growTo = (bytes: number) => {
          seen.grownTo = Math.max(seen.grownTo, bytes)
          return share.growTo(bytes)
        }
        return { ...share, growTo }
      },
    },
    answers: createAnswerAllowance(
      { totalBytes: 1e8, addressBytes: 1e8, ownerBytes: 1e8 },
      core.counters,
    ),
    compressor: createCompressor(),
    requestLog: { record: (entry) => seen.entries.push(entry) },
    get stopping() {
      return stopping.signal
    },
  }
  server = createServer(mount(deps, routes))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

after(() => {
  server.closeAllConnections()
  server.close()
})

beforeEach(() => {
  Object.assign(seen, { calls: 0, entries: [], logged: '', given: [], bodies: 0, grownTo: 0 })
  // Log lines of one test do not count as repetitions in the next.
  state.elapsedMs += 60_000
  stopping = new AbortController()
  limiter = createRateLimiter(0, () => state.at)
})

const post = (path = '/v1/things') => supertest(server).post(path).set('Authorization', bearer)

test('a valid request reaches its route with its project', async () => {
  const response = await post().send({ name: 'a', nonsense: 1 })
  assert.equal(response.status, 200)
  const { warnings, ...answer } = response.body
  assert.deepEqual(answer, { body: { name: 'a' }, id: project.id })
  const message = 'There is no such field, so it was ignored'
  assert.deepEqual(warnings, [{ field: 'nonsense', message, suggestion: null }])
  const { errorCode, errorMessage } = seen.entries.at(-1) ?? {}
  assert.deepEqual([errorCode, errorMessage], [null, `nonsense: ${message}`])
  assert.match(response.headers['content-type'] ?? '', /^application\/json/)
})

test('a key that is renewed is refused at once, on the connection that it came on too', async (t) => {
  const other = await addProject(core)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.after(() => agent.destroy())
  const sockets = new Set<unknown>()
  const callWith = async (secret: string) => {
    const { port } = server.address() as AddressInfo
    const headers = { Authorization: `Bearer ${secret}` }
    const sent = httpRequest({ agent, port, host: '127.0.0.1', path: '/callers', headers }).end()
    const [incoming] = (await once(sent, 'response')) as [IncomingMessage]
    sockets.add(incoming.socket)
    await once(incoming.resume(), 'end')
    return incoming.statusCode
  }
  for (let time = 0; time < 2; time += 1) assert.equal(await callWith(other.secret), 200)
  const renewed = await regenerateKeys(core, other.id)
  assert.equal(await callWith(other.secret), 401)
  assert.equal(await callWith(renewed.secret), 200)
  assert.equal(sockets.size, 1)
})

const authentication: [string, string, string | undefined, string][] = [
  ['no header', '/v1/things', undefined, 'MISSING_AUTH'],
  ['another scheme', '/v1/things', 'Basic abc', 'MISSING_AUTH'],
  ['an empty key', '/v1/things', 'Bearer ', 'MISSING_AUTH'],
  ['an unknown key', '/v1/things', `Bearer sk_${'0'.repeat(64)}`, 'INVALID_API_KEY'],
  ['nonsense', '/v1/things', 'Bearer nonsense', 'INVALID_API_KEY'],
]

for (const [name, path, header, code] of authentication) {
  test(`${name} is 401 ${code} and nothing runs`, async () => {
    const request = supertest(server).post(path).send({ name: 'a' })
    if (header !== undefined) request.set('Authorization', header)
    const response = await request
    assert.equal(response.status, 401)
    assert.equal(response.body.error.code, code)
    assert.ok(response.body.error.suggestion)
    assert.equal(seen.calls, 0)
    assert.doesNotMatch(JSON.stringify(seen.entries), /sk_/)
  })
}

test('S25: a public key on a route of the secret key is 401 and nothing runs', async () => {
  const response = await post().set('Authorization', `Bearer ${project.public}`).send({ name: 'a' })
  assert.equal(response.status, 401)
  assert.equal(response.body.error.code, 'INVALID_API_KEY')
  assert.equal(seen.calls, 0)
  assert.doesNotMatch(JSON.stringify(seen.entries), new RegExp(project.public))
})

test('either key opens a route that accepts any key', async () => {
  const auth = `Bearer ${project.public}`
  const response = await supertest(server).post('/v1/events').set('Authorization', auth)
  assert.equal(response.status, 200)
  assert.equal((await post('/v1/events')).status, 200)
})

test('the envelope of an error is complete, and /v1/ has the older fields beside it', async () => {
  const response = await post().set('X-Request-ID', 'my-id.1_A').send({ name: 5 })
  assert.equal(response.status, 422)
  assert.equal(response.headers['x-request-id'], 'my-id.1_A')
  assert.deepEqual(response.body, {
    success: false,
    error: {
      code: 'VALIDATION_ERROR',
      message: 'name: expected string, received number',
      statusCode: 422,
      requestId: 'my-id.1_A',
      errors: [
        {
          field: 'name',
          message: 'Expected string, received number',
          code: 'invalid_type',
          received: 'number',
        },
      ],
      suggestion: 'Correct the fields listed in errors and send the request again.',
    },
    timestamp: '2026-11-21T12:00:00.000Z',
    code: 422,
    message: 'name: expected string, received number',
    time: START,
  })
  assert.equal(seen.entries.at(-1)?.errorMessage, 'name: expected string, received number')
})

test('the message of a refusal is one line, whatever the field is called', async () => {
  const name = 'a\nb\u2028c\u0085d'
  const response = await post()
    .set('Prefer', 'handling=strict')
    .send({ name: 'a', [name]: 1 })
  assert.equal(response.body.message, 'a b c d: there is no such field')
})

test('outside /v1/ an error is the envelope alone', async () => {
  const response = await supertest(server).get('/things/1')
  assert.deepEqual(Object.keys(response.body), ['success', 'error', 'timestamp'])
})

test('an unknown path is a 404 envelope, and so is OPTIONS outside /v1/', async () => {
  for (const [method, path] of [
    ['get', '/nothing'],
    ['put', '/v1/nothing'],
    ['options', '/things/1'],
    ['get', '/things/1//'],
    ['get', '/things/%31/%00'],
  ] as const) {
    const response = await supertest(server)[method](path)
    assert.equal(response.status, 404, path)
    assert.equal(response.body.error.code, 'RESOURCE_NOT_FOUND')
    // A client with a wrong base address shows the message at the top level.
    assert.equal(response.body.code, 404)
  }
})

test('another method of a known path is 405, and Allow names the possible ones', async () => {
  for (const [method, path, allow] of [
    ['get', '/v1/things', 'POST, OPTIONS'],
    ['delete', '/v1/things', 'POST, OPTIONS'],
    ['put', '/things/1', 'GET, HEAD'],
    ['post', '/things/1/', 'GET, HEAD'],
    ['head', '/v1/events', 'POST, OPTIONS'],
  ] as const) {
    const response = await supertest(server)[method](path)
    assert.equal(response.status, 405, path)
    assert.equal(response.headers.allow, allow)
    if (method === 'head') continue
    assert.equal(response.body.error.code, 'METHOD_NOT_ALLOWED')
    assert.deepEqual(response.body.error.details, { allow: allow.split(', ') })
  }
  assert.equal(seen.calls, 0)
})

test('one slash at the end of a path is ignored', async () => {
  const response = await supertest(server).get('/things/1/').set('Authorization', bearer)
  assert.deepEqual([response.status, response.body], [200, { id: '1' }])
  assert.equal((await post('/v1/things/').send({ name: 'a' })).status, 200)
  assert.equal(seen.entries[0]?.path, '/things/1')
})

test('a UUID in a path may be in either case; other parameters stay as they are', async () => {
  const id = '0192F0AC-7B00-7000-8000-0123456789AB'
  const ask = async (path: string) =>
    (await supertest(server).get(path).set('Authorization', bearer)).body
  assert.deepEqual(await ask(`/things/${id}`), { id: id.toLowerCase() })
  assert.deepEqual(await ask('/things/ABC'), { id: 'ABC' })
  assert.deepEqual(await ask(`/named/${id}`), { eventName: id })
})

test('a path with broken percent-encoding is 400, whether the path exists or not', async () => {
  for (const path of ['/things/%zz', '/things/a%2', '/things/%ff', '/v1/%', '/nothing/%C3%28']) {
    const response = await supertest(server).get(path).set('Authorization', bearer)
    assert.equal(response.status, 400, path)
    assert.equal(response.body.error.code, 'BAD_REQUEST')
    assert.equal(response.headers['x-request-id'], response.body.error.requestId)
  }
  const good = await supertest(server).get('/things/%C3%A9%25').set('Authorization', bearer)
  assert.deepEqual(good.body, { id: 'é%' })
  assert.equal(seen.calls, 1)
})

test('a query with broken percent-encoding is 400, whether the route reads it or not', async () => {
  for (const target of ['/asked?search=%zz', '/asked?%=a', '/asked?a=b&c=%ff', '/nothing?%C3%28']) {
    const { status, body } = await supertest(server).get(target).set('Authorization', bearer)
    assert.deepEqual([status, body.error.code], [400, 'BAD_REQUEST'], target)
    assert.match(body.error.message, /query/)
  }
  const good = await supertest(server)
    .get('/asked?search=a%25b&limit=5')
    .set('Authorization', bearer)
  assert.deepEqual(good.body, { search: 'a%b', limit: '5' })
})

test('an empty value of the query counts as absent, but not an empty limit or id', async () => {
  const ask = (query: string) =>
    supertest(server).get(`/asked?${query}`).set('Authorization', bearer)
  assert.deepEqual((await ask('search=&type=&limit=5')).body, { limit: '5' })
  for (const [query, field] of [
    ['search=&limit=', 'limit'],
    ['someId=&limit=5', 'someId'],
  ] as const) {
    const refused = await ask(query)
    assert.deepEqual([refused.status, refused.body.error.errors[0].field], [422, field])
  }
})

for (const [name, body] of [
  ['cut off', '{"name":'],
  ['empty', ''],
  ['not UTF-8', Buffer.from([0x22, 0xff, 0x22])],
  ['a form', 'name=a'],
] as const) {
  test(`a body that is ${name} is 400 VALIDATION_ERROR`, async () => {
    const response = await post().set('Content-Type', 'application/octet-stream').send(body)
    assert.equal(response.status, 400)
    assert.equal(response.body.error.code, 'VALIDATION_ERROR')
    assert.equal(response.body.error.errors, undefined)
    assert.ok(response.body.error.suggestion)
    assert.equal(seen.calls, 0)
  })
}

test('JSON that is not an object is 422, and the content type does not matter', async () => {
  const response = await post().set('Content-Type', 'text/plain').send('[1]')
  assert.equal(response.status, 422)
  assert.deepEqual(response.body.error.errors[0].code, 'invalid_type')
  const good = await post().set('Content-Type', 'text/plain').send('\ufeff{"name":"a"}')
  assert.equal(good.status, 200)
})

test('JSON with too many values, names or levels is refused before it is parsed', async () => {
  for (const [body, field] of [
    [`{"name":"a","data":[${'{},'.repeat(200_000)}{}]}`, 'data'],
    [`[${'1,'.repeat(200_000)}1]`, ''],
    [`{"name":"a","data":{${many(25_000, (n) => `"n${n}":1`)}}}`, 'data'],
    ['['.repeat(1_000_000), ''],
  ]) {
    const response = await post().type('json').send(body)
    assert.equal(response.status, 422)
    assert.equal(response.body.error.errors[0].code, 'too_big')
    assert.equal(response.body.error.errors[0].field, field)
  }
  assert.equal(seen.calls, 0)
  const fits = `{"name":"a","data":[${many(199_000, () => '1')}]}`
  assert.equal((await post().type('json').send(fits)).status, 200)
})

function many(count: number, make: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => make(n)).join()
}

test('a body nested without end is refused, and reasonable nesting is not', async () => {
  const nested = (depth: number) => `{"name":"a","data":${'['.repeat(depth)}${']'.repeat(depth)}}`
  const response = await post().send(nested(100_000))
  assert.equal(response.status, 422)
  assert.equal(response.body.error.errors[0].code, 'too_big')
  assert.equal((await post().send(nested(99))).status, 200)
})

test('keys named __proto__ are dropped wherever they stand, and named', async () => {
  const text = '{"name":"a","__proto__":{"x":1},"data":{"__proto__":{"y":1},"b":[{"__proto__":1}]}}'
  const response = await post().send(text)
  const { warnings, ...answer } = response.body
  assert.deepEqual(answer, { body: { name: 'a', data: { b: [{}] } }, id: project.id })
  const named = ['__proto__', 'data.__proto__', 'data.b.0.__proto__']
  assert.deepEqual(
    warnings.map(({ field }: { field: string }) => field),
    named,
  )
  const refused = await post().set('Prefer', 'handling=strict').send(text)
  assert.equal(refused.status, 422)
  const { errors } = refused.body.error
  assert.deepEqual(
    errors.map(({ field, code }: Record<string, string>) => [field, code]),
    named.map((field) => [field, 'unrecognized']),
  )
})

test('names that every object has are unknown names as any other', async () => {
  const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype']
  const body = { name: 'a', ...Object.fromEntries(names.map((name) => [name, { x: 1 }])) }
  const response = await post().send(JSON.stringify(body))
  assert.equal(response.status, 200)
  assert.deepEqual(
    response.body.warnings.map(({ field }: { field: string }) => field),
    names,
  )
  const refused = await post().set('Prefer', 'handling=strict').send(JSON.stringify(body))
  assert.equal(refused.body.error.errors.length, names.length)
  assert.equal(({} as Record<string, unknown>).x, undefined)
})

test('a refusal of names says that the preference was applied', async () => {
  const strict = await post().set('Prefer', 'handling=strict').send({ name: 'a', nmae: 'b' })
  assert.equal(strict.status, 422)
  assert.equal(strict.headers['preference-applied'], 'handling=strict')
  const lenient = await post().send({ name: 1 })
  assert.equal(lenient.headers['preference-applied'], undefined)
})

const toldOf = ({ body }: supertest.Response): unknown =>
  body.warnings?.map(({ field, suggestion }: Record<string, unknown>) => [field, suggestion])

test('a call that takes no body names the fields of one', async () => {
  const response = await post('/v1/events').send({ name: 'a', data: { b: 1 }, empty: null })
  assert.equal(response.status, 200)
  const message = 'This call takes no body, so it was ignored'
  assert.deepEqual(response.body, {
    warnings: ['name', 'data', 'empty'].map((field) => ({ field, message, suggestion: null })),
  })
  assert.equal(seen.entries[0]?.errorMessage, `name: ${message} (and 2 more)`)
  assert.ok((seen.entries[0]?.requestSizeBytes ?? 0) > 0)
  const text = `{${many(25, (n) => `"n${n}":1`)}}`
  const answer = await post('/v1/events').set('Content-Type', 'text/plain').send(text)
  assert.equal(answer.body.warnings.length, 20)
  const nested = await post('/v1/events').send('{"a":{"__proto__":1}}')
  assert.deepEqual(toldOf(nested), [['a', null]])
  const dropped = await post('/v1/events').send('{"__proto__":1,"\\u005f_proto__":2}')
  assert.deepEqual(dropped.body.warnings, [{ field: '__proto__', message, suggestion: null }])
})

test('a call that takes no body refuses the fields of one if the client wants that', async () => {
  const strict = () => post('/v1/events').set('Prefer', 'handling=strict')
  const refused = await strict().send({ name: 'a', other: 1 })
  assert.equal(refused.status, 422)
  const { message, errors } = refused.body.error
  assert.equal(message, 'name: this call takes no body')
  const named = errors.map(({ field, code }: Record<string, string>) => [field, code])
  const both = ['name', 'other'].map((field) => [field, 'unrecognized'])
  assert.deepEqual(named, both)
  const dropped = await strict().send('{"__proto__":1}')
  assert.deepEqual(dropped.body.error.errors[0].message, 'This call takes no body')
  const text = `{${many(25, (n) => `"n${n}":1`)}}`
  assert.equal((await strict().send(text)).body.error.errors.length, 20)
  assert.equal(seen.calls, 0)
})

for (const [name, send] of Object.entries({
  absent: (ask) => ask,
  empty: (ask) => ask.type('json').send(''),
  'an object without names': (ask) => ask.send({}),
  null: (ask) => ask.type('json').send('null'),
  'a list': (ask) => ask.send([{ name: 'a' }]),
  'a list with an odd name': (ask) => ask.type('json').send('[{"__proto__":1}]'),
  'a text': (ask) => ask.type('json').send('"name"'),
  'a form': (ask) => ask.type('form').send('name=a'),
  'cut off': (ask) => ask.type('json').send('{"name":'),
  'too deep': (ask) => ask.type('json').send(`{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`),
  'too large': (ask) => ask.type('json').send(`{"a":"${'x'.repeat(FREE_BODY_BYTES)}"}`),
  'of an unknown encoding': (ask) => ask.set('Content-Encoding', 'zip').send({ name: 'a' }),
  'not of its encoding': (ask) => ask.set('Content-Encoding', 'gzip').send({ name: 'a' }),
} satisfies Record<string, (ask: supertest.Test) => supertest.Test>)) {
  test(`a body that is ${name} does not matter to a call that takes none`, async () => {
    for (const prefer of ['handling=lenient', 'handling=strict']) {
      const response = await send(post('/v1/events').set('Prefer', prefer))
      assert.deepEqual([response.status, response.body], [200, {}])
    }
    assert.equal(seen.calls, 2)
    assert.ok(seen.grownTo <= FREE_BODY_BYTES)
  })
}

test('a body without a length takes no memory from a call that takes none', async () => {
  const { port } = server.address() as AddressInfo
  const headers = { Authorization: bearer }
  const options = { port, host: '127.0.0.1', path: '/v1/events', method: 'POST', headers }
  const request = httpRequest(options)
  const answered = once(request, 'response')
  request.write(' '.repeat(FREE_BODY_BYTES))
  request.end(' '.repeat(FREE_BODY_BYTES))
  const [response] = await answered
  response.resume()
  assert.equal(response.statusCode, 200)
  assert.ok(seen.grownTo <= FREE_BODY_BYTES)
})

test('the body of a GET or DELETE is not read', async () => {
  for (const method of ['get', 'delete'] as const) {
    const ask = supertest(server)[method]('/named/a').set('Authorization', bearer)
    const response = await ask.set('Prefer', 'handling=strict').send({ name: 'a' })
    assert.deepEqual([response.status, response.body], [200, { eventName: 'a' }])
  }
  assert.equal(seen.bodies, 0)
})

test('a call that takes no body reads none where none comes', async () => {
  for (const body of [undefined, '']) {
    const response = await post('/v1/events').type('json').send(body)
    assert.deepEqual([response.status, response.body], [200, {}])
  }
  assert.equal(seen.bodies, 0)
  await post('/v1/events').send({})
  assert.equal(seen.bodies, 1)
})

test('a body whose Content-Length is too large is refused before it is read', async () => {
  const { port } = server.address() as AddressInfo
  const response = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(
        `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer}\r\nContent-Length: ${DEFAULT_BODY_BYTES + 1}\r\n\r\n`,
      )
    })
    socket.once('data', (data) => {
      socket.destroy()
      resolve(data.toString())
    })
  })
  assert.match(response, /^HTTP\/1\.1 413 /)
  assert.match(response, /PAYLOAD_TOO_LARGE/)
  assert.match(response, /connection: close/i)
})

test('a body without a length is counted as it arrives, and refused when it is too large', async () => {
  const { port } = server.address() as AddressInfo
  const chunk = Buffer.from(`100000\r\n${' '.repeat(0x100000)}\r\n`)
  const response = await new Promise<string>((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', async () => {
      socket.write(
        `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      )
      for (let sent = 0; sent < 52 && text === '' && !socket.destroyed; sent += 1) {
        await new Promise((written) => socket.write(chunk, written))
      }
    })
    socket.on('data', (data) => {
      text += data.toString()
      socket.destroy()
      resolve(text)
    })
    socket.on('error', reject)
  })
  assert.match(response, /^HTTP\/1\.1 413 /)
  assert.equal(seen.calls, 0)
})

test('a request cut off in its body reaches no route', async () => {
  const { port } = server.address() as AddressInfo
  const socket = connect(port, '127.0.0.1', () => {
    socket.end(
      `POST /v1/things HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer}\r\nContent-Length: 100\r\n\r\n{"na`,
      () => socket.destroy(),
    )
  })
  await new Promise((resolve) => socket.on('close', resolve))
  while (seen.entries.length === 0) await new Promise(setImmediate)
  assert.equal(seen.entries[0]?.errorCode, 'BAD_REQUEST')
  assert.equal(seen.calls, 0)
})

test('a request id is generated when none is given or the given one is unsafe to log', async () => {
  const ids = await Promise.all(
    [undefined, 'a b', 'x'.repeat(129), 'ok'].map(async (given) => {
      const request = supertest(server).get('/things/1').set('Authorization', bearer)
      if (given !== undefined) request.set('X-Request-ID', given)
      return (await request).headers['x-request-id'] ?? ''
    }),
  )
  assert.equal(ids.pop(), 'ok')
  for (const id of ids) assert.match(id, /^[0-9a-f-]{36}$/)
  assert.equal(new Set(ids).size, 3)
})

test('a disabled project may only read, and this is checked before its rate', async () => {
  await setDisabled(true)
  limiter = createRateLimiter(1, () => state.at)
  const refused = await post().send({ name: 'a' })
  assert.equal(refused.status, 403)
  assert.equal(refused.body.error.code, 'PROJECT_DISABLED')
  assert.equal(refused.headers['ratelimit-limit'], undefined)
  assert.equal(seen.calls, 0)
  const read = await supertest(server).get('/things/1').set('Authorization', bearer)
  assert.equal(read.status, 200)
  await setDisabled(false)
})

async function setDisabled(isDisabled: boolean): Promise<void> {
  const ofProject = eq(projects.id, project.id)
  await core.store.write((tx) => tx.update(projects).set({ isDisabled }).where(ofProject))
  core.directory.drop()
}

test('every response to a key shows the rate, and exceeding it is 429 with Retry-After', async () => {
  limiter = createRateLimiter(2, () => state.at)
  const first = await post().send({ name: 'a' })
  assert.deepEqual(rateOf(first.headers), ['2', '1', '60'])
  const invalid = await post().send({ name: 1 })
  assert.deepEqual([invalid.status, ...rateOf(invalid.headers)], [422, '2', '0', '60'])
  state.at += 20_000
  const refused = await post().send({ name: 1 })
  assert.equal(refused.status, 429)
  assert.equal(refused.body.error.code, 'RATE_LIMIT_EXCEEDED')
  assert.equal(refused.body.error.details.retryAfter, 40)
  assert.equal(refused.headers['retry-after'], '40')
  assert.deepEqual(rateOf(refused.headers), ['2', '0', '40'])
  assert.equal(seen.calls, 1)
  const auth = `Bearer ${project.public}`
  const other = await supertest(server).post('/v1/events').set('Authorization', auth)
  assert.equal(other.status, 200)
})

function rateOf(headers: Record<string, string>) {
  return ['limit', 'remaining', 'reset'].map((name) => headers[`ratelimit-${name}`])
}

test('S31: a request works as its project, or as its network, until the last piece of its response', async () => {
  const { text } = await supertest(server).get('/callers').set('Authorization', bearer).buffer()
  assert.equal(text, `{"key":"${project.id}","isJob":false} true\n`.repeat(3))
  const open = await supertest(server).get('/stranger').set('Authorization', bearer)
  assert.deepEqual(open.body, { key: '127.0.0.0/24', isJob: false })
})

test('an unknown key gets no rate window', async () => {
  limiter = createRateLimiter(1, () => state.at)
  const auth = `Bearer sk_${'0'.repeat(64)}`
  const response = await supertest(server).get('/things/1').set('Authorization', auth)
  assert.equal(response.status, 401)
  assert.equal(response.headers['ratelimit-limit'], undefined)
})

test('an Idempotency-Key reaches the route, and an invalid one is refused before the body', async () => {
  const good = await post().set('Idempotency-Key', 'order 66 ~').send({ name: 'a' })
  assert.equal(good.body.idempotencyKey, 'order 66 ~')
  for (const bad of ['', 'x'.repeat(256), 'caf\u00e9']) {
    const response = await post().set('Idempotency-Key', bad).send('not json')
    assert.equal(response.status, 400)
    assert.equal(response.body.error.code, 'BAD_REQUEST')
  }
})

test('a key in use is refused before the body is read', async () => {
  const holder = { projectId: project.id, key: 'held', method: 'POST', path: '/v1/send', at: 0 }
  core.reservedKeys.set(`${project.id} held`, holder)
  const response = await post().set('Idempotency-Key', 'held').send('not json')
  core.reservedKeys.clear()
  assert.equal(response.status, 409)
  assert.equal(response.body.error.code, 'IDEMPOTENCY_KEY_REUSED')
  const { originalStatusCode, originalRequest } = response.body.error.details
  assert.deepEqual([originalStatusCode, originalRequest], [null, 'POST /v1/send'])
  // Whether it takes effect is not known yet.
  const { message, suggestion } = response.body.error
  assert.match(message, /still being worked on/)
  assert.match(suggestion, /^Send the same request again in a moment/)
  assert.doesNotMatch(`${message} ${suggestion}`, /took effect|already used|new Idempotency-Key/)
})

test('an internal error is logged in full and reveals nothing to the caller', async () => {
  const response = await supertest(server).get('/broken')
  assert.equal(response.status, 500)
  assert.equal(response.body.error.code, 'INTERNAL_SERVER_ERROR')
  assert.doesNotMatch(response.text, /hunter2/)
  assert.match(seen.logged, /hunter2/)
  assert.ok(seen.logged.includes(response.body.error.requestId))
})

test('on a nearly full disk routes that store data are refused and leave no row', async () => {
  state.isDiskLow = true
  const { status, body, headers } = await post().send({ name: 'a' })
  const read = await supertest(server).get('/things/7').set('Authorization', bearer)
  const withoutKey = await post()
    .set('Authorization', `Bearer sk_${'0'.repeat(64)}`)
    .send({})
  state.isDiskLow = false
  assert.equal(status, 503)
  assert.equal(body.error.code, 'INSUFFICIENT_STORAGE')
  assert.equal(headers['retry-after'], '60')
  assert.equal(seen.calls, 1)
  assert.deepEqual([read.status, read.body.id], [200, '7'])
  assert.equal(withoutKey.status, 401)
  assert.deepEqual(seen.entries, [])
  assert.equal(seen.logged, '', 'the low disk itself is logged once')
  assert.equal((await post().send({ name: 'a' })).status, 200)
})

test('a temporary refusal has a Retry-After', async () => {
  const response = await supertest(server).get('/busy')
  assert.equal(response.status, 503)
  assert.equal(response.headers['retry-after'], '8')
})

test('the failure of another service is one warning in the log, without a stack', async () => {
  const { body } = await supertest(server).get('/busy')
  const lines = seen.logged.split('\n').filter((line) => line.includes(body.error.requestId))
  const problems = lines.map((line) => JSON.parse(line)).filter(({ level }) => level !== 'info')
  assert.deepEqual(
    problems.map(({ level, code, reason }) => ({ level, code, reason })),
    [{ level: 'warn', code: 'EXTERNAL_SERVICE_ERROR', reason: 'No answer' }],
  )
  assert.doesNotMatch(lines.join(), /"stack"/)
})

test('pages of any origin may call /v1/, and no other path', async () => {
  const preflight = await supertest(server).options('/v1/things').set('Origin', 'https://a.example')
  assert.equal(preflight.status, 200)
  assert.equal(preflight.headers['access-control-allow-origin'], '*')
  assert.equal(preflight.headers['access-control-allow-methods'], 'GET, POST, PUT, DELETE, OPTIONS')
  assert.equal(
    preflight.headers['access-control-allow-headers'],
    'Content-Type, Authorization, Prefer',
  )
  assert.match(String(preflight.headers['access-control-expose-headers']), /\bPreference-Applied\b/)
  assert.equal(preflight.headers['access-control-allow-credentials'], undefined)
  const refused = await supertest(server).post('/v1/things').set('Origin', 'https://a.example')
  assert.equal(refused.headers['access-control-allow-origin'], '*')
  const other = await supertest(server).get('/things/1').set('Origin', 'https://a.example')
  assert.equal(other.headers['access-control-allow-origin'], undefined)
})

test('every response forbids sniffing, framing and caching', async () => {
  for (const path of ['/things/1', '/nothing', '/broken']) {
    const { headers } = await supertest(server).get(path)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['x-frame-options'], 'DENY')
    assert.equal(headers['cache-control'], 'no-store')
    assert.match(headers['content-security-policy'] ?? '', /default-src 'none'/)
    assert.equal(headers['x-powered-by'], undefined)
  }
})

test('each request leaves one line in the log, without query or key', async () => {
  await post().set('User-Agent', 'tests').send({ name: 'a' })
  await supertest(server).get('/things/1?token=abc').set('Authorization', bearer)
  await post().send({ name: 1 })
  const lines = seen.entries.map(({ id, createdAt, responseSizeBytes, ...line }) => {
    assert.ok(id !== '' && createdAt === state.at && responseSizeBytes > 0)
    return [line.method, line.path, line.statusCode, line.projectId, line.errorCode, line.ip]
  })
  assert.deepEqual(lines, [
    ['POST', '/v1/things', 200, project.id, null, '127.0.0.1'],
    ['GET', '/things/1', 200, project.id, null, '127.0.0.1'],
    ['POST', '/v1/things', 422, project.id, 'VALIDATION_ERROR', '127.0.0.1'],
  ])
  assert.equal(seen.entries[0]?.userAgent, 'tests')
  assert.equal(seen.entries[0]?.requestSizeBytes, 12)
})

test('refused requests without a caller are counted and leave no line in the log', async () => {
  const before = strangers()
  await supertest(server).get('/nothing')
  await supertest(server).delete('/things/1')
  await supertest(server).get('/things/1')
  await supertest(server).get('/things/%zz')
  await supertest(server).post('/v1/things').send({ name: 'a' })
  await supertest(server)
    .get('/things/1')
    .set('Authorization', `Bearer sk_${'0'.repeat(64)}`)
  assert.deepEqual(seen.entries, [])
  const counted = strangers().map(([status, count], index) => [
    status,
    count - (before[index]?.[1] ?? 0),
  ])
  assert.deepEqual(Object.fromEntries(counted), { 400: 1, 401: 3, 404: 1, 405: 1 })
})

function strangers(): [string, number][] {
  return ['400', '401', '404', '405'].map((status) => {
    const lines = core.counters.lines('pillarbox_http_strangers_refused_total')
    return [status, lines.find(({ labels }) => labels.status === status)?.count ?? 0]
  })
}

test('an internal error leaves a line in the log, also without a caller', async () => {
  await supertest(server).get('/broken')
  assert.deepEqual(
    seen.entries.map(({ statusCode }) => statusCode),
    [500],
  )
})

test('a stopping server closes connections after their responses', async () => {
  stopping.abort()
  const response = await supertest(server).get('/things/1').set('Authorization', bearer)
  assert.equal(response.headers.connection, 'close')
})

test('HEAD does not start a streamed body and ends it', async () => {
  const response = await supertest(server).head('/given-up').set('Authorization', bearer)
  assert.equal(response.status, 200)
  assert.deepEqual(seen.given, ['return'])
  assert.equal(seen.entries[0]?.responseSizeBytes, 0)
})

test('HEAD is GET without a body', async () => {
  const response = await supertest(server).head('/things/1').set('Authorization', bearer)
  assert.equal(response.status, 200)
  assert.equal(response.text, undefined)
})
