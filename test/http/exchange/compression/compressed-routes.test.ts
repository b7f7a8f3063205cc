/** Which answers are compressed, and which never: a route whose answer could have a secret is on a list here. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { z } from 'zod'
import type { Route } from '../../../../src/http/route.ts'
import { trustDomain } from '../../../core.ts'
import { addMember, addUser, logIn } from '../../../session.ts'
import { listRoutes, nameOf } from '../../listed-routes.ts'
import { useService } from '../../service.ts'

const ROWS = 60
const started = useService({}, async ({ call, service, mine }) => {
  await trustDomain(service.core, mine.id, 'example.test')
  for (let at = 0; at < ROWS; at += 1) {
    const data = { text: `${at} ${'some words '.repeat(1_000)}` }
    await call('post', '/contacts')
      .send({ email: `p${at}@people.test`, data })
      .expect(201)
  }
})

/** Files and pages, and answers with names or values that could be secret: each was read, and none is. */
const REVIEWED = [
  'GET /campaigns',
  'GET /campaigns/:id/recipients',
  'GET /campaigns/:id/recipients/export',
  'GET /contacts',
  'GET /contacts/export',
  'GET /docs',
  'GET /docs/:file',
  'GET /docs/guide',
  'GET /docs/guide/:page',
  'GET /domains/:id/verify',
  'GET /emails',
  'GET /jobs',
  'GET /openapi.json',
  'GET /requests',
  'GET /segments',
  'GET /segments/:id/contacts',
  'GET /templates',
  'GET /uploads',
  'GET /workflows',
]

const SECRET_PATH =
  /^\/(?:auth|users|oauth|projects|config|invitations|manage|subscribe|unsubscribe|t\/|v1|metrics|health|webhooks\/signing-secret|webhooks\/endpoints$|webhooks\/endpoints\/:id$|contacts\/public)/

/** Fields whose text may have a signed link or a token. */
const BODY_FIELDS = /^(?:body|html|text|metadata|context|response|headers|manageUrl|url)$/
const SECRET_NAMES =
  /secret|token|key|url|link|password|cookie|session|code|signature|credential|auth|hash/i

/** Texts as their authors wrote them, the words of receivers, and the addresses of images, which are public. */
const AUTHORED = [
  ...['GET /campaigns', 'GET /campaigns/:id/recipients', 'GET /emails', 'GET /templates'],
  'GET /uploads',
]

const ALL = { 'Accept-Encoding': 'gzip, br' }

type Raw = { status: number; headers: Headers; octets: Buffer }

/** fetch would decode the answer and hide its length. */
async function ask(path: string, headers: Record<string, string>, method = 'GET'): Promise<Raw> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const key = { authorization: `Bearer ${started.mine.secret}` }
    const by = { ...('cookie' in headers ? {} : key), ...headers }
    const sent = request(new URL(path, started.service.url), { method, headers: by }, (answer) => {
      answer.toArray().then((pieces) => {
        const fields = new Headers(answer.headers as Record<string, string>)
        const octets = Buffer.concat(pieces)
        resolve({ status: Number(answer.statusCode), headers: fields, octets })
      }, reject)
    })
    sent.on('error', reject)
    sent.end()
  })
}

/**
 * Answers with rendered or received mail, with data of events, and with what was sent to one recipient: strangers
 * choose text beside the signed links in them.
 */
const NEVER = [
  'GET /activity',
  'GET /activity/upcoming',
  'GET /analytics/links',
  'GET /campaigns/:id/links',
  'GET /events',
  'GET /webhooks/endpoints/:id/deliveries',
  'GET /workflows/:id/executions',
]

/** Endpoints with their secrets. */
const SECRETS = ['GET /webhooks/endpoints', 'GET /webhooks/signing-secret']

/** Without the cursor, which is sealed anew each time. */
function contentOf(octets: Buffer): string {
  return octets.toString().replace(/"cursor":"[^"]*"/, '')
}

type Schema = { properties?: Record<string, Schema>; additionalProperties?: Schema | boolean }

/** The names of all fields in a shape, and `*` for each value of any kind. */
function namesOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, additionalProperties: others } = schema as Schema
  const values = [...Object.values(properties), ...(typeof others === 'object' ? [others] : [])]
  const isAny = (value: object) =>
    !['type', 'anyOf', 'enum', 'const', '$ref'].some((key) => key in value)
  const below = Object.values(schema).flatMap(namesOf)
  return [...Object.keys(properties), ...values.filter(isAny).map(() => '*'), ...below]
}

/** Undefined for a file or a page. */
function namesInAnswer({ responses }: Route): string[] | undefined {
  const schema = responses[200]?.schema
  return schema && namesOf(z.toJSONSchema(schema, { unrepresentable: 'any' }))
}

describe('compression', () => {
  it('is for figures and for lists of plain records, and else for the answers of this test only', () => {
    const routes = listRoutes(started.service.core)
    const compressed = routes.filter(({ isCompressed }) => isCompressed)
    const isDoubtful = (name: string) =>
      name === '*' || BODY_FIELDS.test(name) || SECRET_NAMES.test(name)
    assert.deepEqual(
      compressed
        .filter((route) => namesInAnswer(route)?.some(isDoubtful) ?? true)
        .map(nameOf)
        .sort(),
      REVIEWED,
      'a route needs a line in SECRET of compressed-routes.ts, or in REVIEWED if none of its answers has a secret',
    )
    for (const { path, callers } of compressed) {
      assert.doesNotMatch(path, SECRET_PATH)
      assert.ok(callers === 'member' || callers === 'anyone', path)
    }
  })

  it('is never for answers that have signed links beside the text of strangers', () => {
    const routes = listRoutes(started.service.core)
    const named = routes.filter((route) => NEVER.includes(nameOf(route)))
    assert.deepEqual([named.length, named.filter(({ isCompressed }) => isCompressed)], [7, []])
  })

  it('is never for fields that may have a signed link or a token, but for what authors wrote', () => {
    const routes = listRoutes(started.service.core)
    const doubtful = routes
      .filter(({ isCompressed }) => isCompressed)
      .filter((route) => namesInAnswer(route)?.some((name) => BODY_FIELDS.test(name)))
    assert.deepEqual(doubtful.map(nameOf).sort(), AUTHORED)
  })

  it('is for every other answer that members read, but for a record or a file by its id', () => {
    const others = listRoutes(started.service.core).filter(
      ({ method, callers, path, isCompressed }) =>
        method === 'GET' &&
        callers === 'member' &&
        !isCompressed &&
        !/\/(?::[^/]+|raw)$/.test(path),
    )
    assert.deepEqual(others.map(nameOf).sort(), [...NEVER, ...SECRETS].sort())
  })

  for (const path of ['/contacts?limit=50', '/contacts?limit=5', '/contacts/export']) {
    for (const [coding, decode] of [
      ['gzip', gunzipSync],
      ['br', brotliDecompressSync],
    ] as const) {
      it(`gives the same octets: ${path} as ${coding}`, async () => {
        const plain = await ask(path, {})
        assert.equal(plain.headers.get('content-encoding'), null)
        assert.match(plain.headers.get('vary') ?? '', /Accept-Encoding/)
        const { status, headers, octets } = await ask(path, { 'Accept-Encoding': coding })
        assert.equal(status, 200)
        assert.equal(headers.get('content-encoding'), coding)
        assert.match(headers.get('vary') ?? '', /Accept-Encoding/)
        assert.ok(octets.length < plain.octets.length / 5, `${octets.length}`)
        assert.deepEqual(contentOf(decode(octets)), contentOf(plain.octets))
      })
    }
  }

  it('is not for what a page of another site makes a browser ask, but for public pages', async () => {
    const codingOf = async (path: string, site: string) =>
      (await ask(path, { ...ALL, 'Sec-Fetch-Site': site })).headers.get('content-encoding')
    for (const path of ['/contacts?limit=50', '/contacts/export']) {
      assert.equal(await codingOf(path, 'cross-site'), null, path)
      assert.equal(await codingOf(path, 'same-site'), null, path)
      assert.equal(await codingOf(path, 'same-origin'), 'br', path)
      assert.equal(await codingOf(path, 'none'), 'br', path)
    }
    assert.equal(await codingOf('/docs/guide', 'cross-site'), 'br')
  })

  it('is for a user whose browser names no other site', async () => {
    const { core } = started.service
    const { id } = await addUser(core)
    await addMember(core, { projectId: started.mine.id, userId: id, role: 'ADMIN' })
    const user = { ...ALL, cookie: await logIn(core, id), 'x-project-id': started.mine.id }
    const codingOf = async (headers: Record<string, string>, path = '/contacts?limit=50') => {
      const answer = await ask(path, { ...user, ...headers })
      assert.equal(answer.status, 200)
      return answer.headers.get('content-encoding')
    }
    assert.equal(await codingOf({ 'Sec-Fetch-Site': 'same-origin' }), 'br')
    assert.equal(await codingOf({}), 'br')
    assert.equal(await codingOf({ 'Sec-Fetch-Site': 'cross-site' }), null)
    assert.equal(await codingOf({ 'Sec-Fetch-Site': 'cross-site' }, '/docs/guide'), 'br')
  })

  it('leaves short answers and errors as they are', async () => {
    for (const path of ['/activity/types', '/contacts?cursor=x', '/suppressions']) {
      const { headers } = await ask(path, ALL)
      assert.equal(headers.get('content-encoding'), null, path)
    }
  })

  it('has the same header fields for HEAD', async () => {
    for (const path of [
      '/contacts?limit=5',
      '/contacts?limit=50',
      '/openapi.json',
      '/docs/guide',
    ]) {
      const [head, get] = [await ask(path, ALL, 'HEAD'), await ask(path, ALL)]
      assert.equal(head.octets.length, 0)
      assert.equal(head.headers.get('content-encoding'), 'br', path)
      for (const name of ['content-encoding', 'vary', 'content-type']) {
        assert.equal(head.headers.get(name), get.headers.get(name), `${path} ${name}`)
      }
    }
  })

  it('serves the description, the guide and the files of the API page', async () => {
    const paths = ['/openapi.json', '/docs/guide', '/docs/guide/contacts', '/docs/swagger-ui.css']
    for (const path of [...paths, '/docs/swagger-ui-bundle.js']) {
      const plain = await ask(path, {})
      const [gzip, br] = [await ask(path, { 'Accept-Encoding': 'gzip' }), await ask(path, ALL)]
      assert.deepEqual(gunzipSync(gzip.octets), plain.octets, path)
      assert.deepEqual(brotliDecompressSync(br.octets), plain.octets, path)
      assert.equal(br.headers.get('content-length'), String(br.octets.length))
      assert.equal((await ask(path, ALL)).octets.equals(br.octets), true)
    }
  })

  it('never touches answers with secrets', async () => {
    const { core } = started.service
    const { id } = await addUser(core)
    const cookie = await logIn(core, id)
    for (const path of ['/users/@me', '/users/@me/projects', '/users/@me/sessions', '/projects']) {
      const own = { ...ALL, cookie, 'Sec-Fetch-Site': 'same-origin' }
      const { status, headers } = await ask(path, own)
      assert.equal(status, 200)
      assert.deepEqual([headers.get('content-encoding'), headers.get('vary')], [null, null], path)
    }
    for (const path of ['/webhooks/endpoints', '/webhooks/signing-secret', '/unsubscribe/x']) {
      const { headers } = await ask(path, ALL)
      assert.deepEqual([headers.get('content-encoding'), headers.get('vary')], [null, null], path)
    }
  })
})
