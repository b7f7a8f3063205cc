/**
 * Which routes may answer with much, by the shapes of their responses: each waits for memory first, and the
 * pages of lists with cursors end at 2 MB. A new list fails here until it does.
 */
import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { z } from 'zod'
import { MAX_SUBJECT_LENGTH } from '../../../src/formats/limits.ts'
import { MAX_PAGE_BYTES } from '../../../src/http/exchange/list-response.ts'
import { describeApi } from '../../../src/http/openapi.ts'
import type { Route } from '../../../src/http/route.ts'
import { trustDomain } from '../../core.ts'
import { listRoutes, nameOf } from '../listed-routes.ts'
import { type StartedService, useService } from '../service.ts'

const started = useService({}, fill)

/** Of 60 KB each, so that they take more than a page. */
const ROWS = 40

async function fill({ call, service, mine }: StartedService) {
  await trustDomain(service.core, mine.id, 'example.test')
  const text = 'é'.repeat(30_000)
  for (let at = 0; at < ROWS; at += 1) {
    const email = `person${at}@people.test`
    const data = { text: `${at} ${text}` }
    await call('post', '/contacts').send({ email, data }).expect(201)
    await call('post', '/v1/track').send({ email, event: 'signup', data }).expect(200)
    const body = `<p>${at} ${text}</p>`
    const template = { name: `${at}`, subject: 'Hello', body, from: 'hello@example.test' }
    await call('post', '/templates').send(template).expect(201)
    await call('post', '/campaigns')
      .send({ ...template, audienceType: 'ALL' })
      .expect(201)
  }
}

/** Lists that are always short, and why. */
const SHORT: Readonly<Record<string, string>> = {
  'GET /activity/types': 'a constant',
  'GET /analytics/deliverability': 'as many as there are providers',
  'GET /analytics/overview': 'as many as there are streams',
  'GET /campaigns/:id/audience': 'ten contacts',
  'POST /campaigns/audience': 'ten contacts',
  'GET /domains/:id/verify': 'the records of one domain',
  'POST /domains': 'the records of one domain',
  'GET /health': 'the reasons of one server',
  'GET /health/checks': 'the checks of one server',
  'GET /projects/:id/receivers': 'twenty receivers',
  'GET /projects/:id/security': 'the thresholds',
  'GET /users/@me/projects/:id/security': 'the thresholds',
  'GET /users/@me/projects/:id/billing-consumption': 'the categories of use',
  'GET /users/@me/projects/:id/billing-invoices': 'the invoices of one page of Stripe',
  'GET /webhooks/endpoints': 'twenty endpoints',
  'GET /webhooks/endpoints/:id': 'the events of one endpoint',
  'PATCH /webhooks/endpoints/:id': 'the events of one endpoint',
  'POST /webhooks/endpoints': 'the events of one endpoint',
  'POST /webhooks/endpoints/:id/rotate-secret': 'the events of one endpoint',
  'POST /campaigns/:id/test': 'the emails of one request',
  'POST /emails/test': 'the emails of one request',
  'POST /v1/send': 'the emails of one request',
  'POST /v1/track': 'twenty warnings',
  'POST /events/track': 'twenty warnings',
  'GET /search': 'twenty results',
  'POST /v1/verify': 'the reasons for one address',
  'POST /users/@me/totp/confirm': 'ten codes',
}

/** Bodies that are no JSON and always short. */
const SHORT_FILES = ['GET /t/o/:token', 'GET /metrics']

/** Texts and values without a limit that are always short, and why. */
const SHORT_TEXTS: Readonly<Record<string, string>> = {
  'GET /contacts/:id': 'the data of one contact: 64 KB',
  'PATCH /contacts/:id': 'the data of one contact: 64 KB',
  'POST /contacts': 'the data of one contact: 64 KB',
  'POST /events/track': 'the data of one event: 64 KB',
  'DELETE /workflows/:id/executions/:eid': 'the context of one execution: 64 KB',
  'POST /workflows/:id/executions': 'the context of one execution: 64 KB',
  'POST /workflows/:id/executions/:eid/retry': 'the context of one execution: 64 KB',
  'POST /auth/signup': 'the new user, or the reason why not',
}

type Schema = {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  maxLength?: number
  format?: string
  properties?: Record<string, Schema>
  items?: Schema
  anyOf?: Schema[]
  additionalProperties?: Schema | boolean
}

/** The paths of all lists in a shape. */
function listsOf(schema: Schema, at = ''): string[] {
  const { properties = {}, anyOf = [], items, additionalProperties: others } = schema
  const isList = [schema.type].flat().includes('array')
  return [
    ...(isList ? [at] : []),
    ...(items === undefined ? [] : listsOf(items, `${at}[]`)),
    ...anyOf.flatMap((part) => listsOf(part, at)),
    ...(typeof others === 'object' ? listsOf(others, `${at}.*`) : []),
    ...Object.entries(properties).flatMap(([name, part]) => listsOf(part, `${at}.${name}`)),
  ]
}

const LARGE_TEXTS = new Set(['body', 'html', 'text'])

/** A text of a record that has a `max` of so many characters is short. */
const SHORT_TEXT_LENGTH = 10_000

/** The paths of all texts of messages in a shape, and of all values of any kind. */
function largeOf(schema: Schema, at = ''): string[] {
  const { properties = {}, anyOf = [], items, additionalProperties: others, maxLength } = schema
  const isLong = (maxLength ?? Number.POSITIVE_INFINITY) > SHORT_TEXT_LENGTH
  const isAny = !['type', 'anyOf', 'enum', 'const'].some((key) => key in schema)
  const isText = LARGE_TEXTS.has(at.split('.').at(-1) ?? '') && schema.type === 'string' && isLong
  return [
    ...(isAny || isText ? [at] : []),
    ...(items === undefined ? [] : largeOf(items, `${at}[]`)),
    ...anyOf.flatMap((part) => largeOf(part, at)),
    ...(typeof others === 'object' ? largeOf(others, `${at}.*`) : []),
    ...Object.entries(properties).flatMap(([name, part]) => largeOf(part, `${at}.${name}`)),
  ]
}

function shapeOf(schema: z.ZodType): Schema {
  // Schemas with an id are not inlined.
  const { $defs = {}, ...shape } = z.toJSONSchema(schema, { unrepresentable: 'any' })
  const inline = (part: unknown): unknown => {
    if (typeof part !== 'object' || part === null) return part
    if ('$ref' in part) return inline($defs[String(part.$ref).split('/').at(-1) ?? ''])
    if (Array.isArray(part)) return part.map(inline)
    return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, inline(value)]))
  }
  return inline(shape) as Schema
}

/** The shapes of the JSON responses of a route. */
function shapesOf({ responses }: Route): Schema[] {
  return Object.values(responses).flatMap(({ schema }) => (schema ? [shapeOf(schema)] : []))
}

describe('S29: a route whose answer may be large', () => {
  let routes: Route[]

  before(() => {
    routes = listRoutes(started.service.core)
  })

  it('waits for memory before it reads a list', () => {
    const withLists = routes.filter((route) =>
      shapesOf(route).some((shape) => listsOf(shape).length > 0),
    )
    const free = withLists.filter(({ answerBytes }) => answerBytes === 0)
    assert.deepEqual(free.map(nameOf).sort(), Object.keys(SHORT).sort())
  })

  it('waits for memory before it reads a text or a value without a limit', () => {
    const free = routes.filter(
      (route) =>
        route.answerBytes === 0 && shapesOf(route).some((shape) => largeOf(shape).length > 0),
    )
    assert.deepEqual(
      free.map(nameOf).sort(),
      Object.keys(SHORT_TEXTS).sort(),
      'a route needs answerBytes, a text `max` in its record, or the route a line in SHORT_TEXTS',
    )
  })

  it('waits for memory before it reads a file', () => {
    const isFile = ({ responses }: Route) =>
      Object.values(responses).some(({ schema, contentType }) => !schema && contentType)
    const free = routes.filter((route) => isFile(route) && route.answerBytes === 0)
    assert.deepEqual(free.map(nameOf), SHORT_FILES)
  })

  it('says in its description that it may be refused', async () => {
    const described = await describeApi(routes, { url: 'http://localhost', version: '1' })
    const { paths } = JSON.parse(described) as { paths: Record<string, Record<string, Operation>> }
    const large = routes.filter(({ answerBytes, isHidden }) => answerBytes > 0 && !isHidden)
    for (const { method, path } of large) {
      const url = path.replaceAll(/:([A-Za-z]+)/g, '{$1}')
      const { responses } = paths[url]?.[method.toLowerCase()] ?? {}
      assert.ok(responses?.['503'], `${method} ${path}`)
    }
  })
})

type Operation = { responses: Record<string, object> }

/** Rows in the largest page of most lists. */
const MAX_ROWS = 100

/** Texts without a `max` that are short wherever they are. */
const SHORT_NAMES =
  /^(?:messageId|name|subject|from|email|recipientAddress|event|state|status|reason|source|url|key|filename|method|path)$/
/** The largest is a subject of 998 characters. */
const SHORT_TEXT_BYTES = 4 * MAX_SUBJECT_LENGTH
const ID_NAME = /^(?!messageId$)\w*[iI]d$/
/** A UUID, or the name of a row in a list of several tables. */
const ID_BYTES = 100

/** Lists of small rows whose shapes do not say so: short texts without a `max`, and the event that starts a workflow. */
const SMALL_ROWS = [
  'GET /campaigns/:id/recipients',
  'GET /emails',
  'GET /jobs',
  'GET /requests',
  'GET /webhooks/endpoints/:id/deliveries',
  'GET /workflows',
]

/** Octets that a row of a list takes at most; infinite with a value of any kind, or a text without a limit. */
function maxBytesOf(schema: Schema, name = ''): number {
  const { properties, anyOf, items, additionalProperties: others, maxLength, type } = schema
  const sum = (parts: Schema[]) => parts.reduce((bytes, part) => bytes + maxBytesOf(part, name), 0)
  if (anyOf !== undefined) return sum(anyOf)
  if (items !== undefined || typeof others === 'object') return Number.POSITIVE_INFINITY
  if (properties !== undefined) {
    const entries = Object.entries(properties)
    return entries.reduce((bytes, [key, part]) => bytes + maxBytesOf(part, key), 0)
  }
  // A text that may be null has both types.
  const types = [type].flat()
  if (!types.includes('string')) {
    return type === undefined && !isWord(schema) ? Number.POSITIVE_INFINITY : 20
  }
  if (maxLength !== undefined) return 4 * maxLength
  const isShort = SHORT_NAMES.test(name) || isWord(schema) || schema.format !== undefined
  if (ID_NAME.test(name)) return ID_BYTES
  return isShort ? SHORT_TEXT_BYTES : Number.POSITIVE_INFINITY
}

function isWord(schema: Schema): boolean {
  return 'enum' in schema || 'const' in schema
}

type Page = Record<string, { id: string }[]> & { cursor: string | null; hasMore: boolean }

describe('S29: a list with cursors', () => {
  const large: Record<string, { list: string; query: (cursor?: string) => Promise<Page> }> = {
    'GET /events': { list: 'events', query: (cursor) => get('/events', { limit: 1_000, cursor }) },
    'GET /activity': { list: 'data', query: (cursor) => get('/activity', { limit: 100, cursor }) },
    'GET /templates': {
      list: 'data',
      query: (cursor) => get('/templates', { limit: 100, cursor }),
    },
    'GET /campaigns': {
      list: 'data',
      query: (cursor) => get('/campaigns', { limit: 100, cursor }),
    },
    'GET /contacts': { list: 'data', query: (cursor) => get('/contacts', { limit: 100, cursor }) },
    'POST /contacts/query': {
      list: 'data',
      query: async (cursor) => {
        const request = started.call('post', '/contacts/query').send({ limit: 100, cursor })
        return parse(await request)
      },
    },
  }

  it('is tested here, or has small rows', () => {
    const rowOf = ({ properties = {} }: Schema) => {
      const isPage = 'cursor' in properties && 'hasMore' in properties
      return isPage ? Object.values(properties).find(({ items }) => items !== undefined) : undefined
    }
    const isLarge = (shape: Schema) => {
      const { items } = rowOf(shape) ?? {}
      return items !== undefined && maxBytesOf(items) * MAX_ROWS > MAX_PAGE_BYTES
    }
    const routes = listRoutes(started.service.core).filter((route) => shapesOf(route).some(isLarge))
    assert.deepEqual(
      routes.map(nameOf).sort(),
      [...SMALL_ROWS, ...Object.keys(large)].sort(),
      'the texts of a list with cursors need a `max`, or the list a line in `large` with rows in fill()',
    )
  })

  for (const [name, { list, query }] of Object.entries(large)) {
    it(`ends its pages at 2 MB, and they have every row once: ${name}`, async () => {
      const ids: string[] = []
      let cursor: string | undefined
      let pages = 0
      do {
        const page = await query(cursor)
        ids.push(...(page[list] ?? []).map(({ id }) => id))
        assert.equal(page.hasMore, page.cursor !== null)
        cursor = page.cursor ?? undefined
        pages += 1
      } while (cursor !== undefined)
      assert.ok(pages > 1, 'its rows take more than one page')
      assert.ok(ids.length >= ROWS, `${ids.length}`)
      assert.equal(new Set(ids).size, ids.length)
    })
  }

  async function get(path: string, query: Record<string, unknown>): Promise<Page> {
    return parse(await started.call('get', path).query(query))
  }

  function parse({ status, text }: { status: number; text: string }): Page {
    assert.equal(status, 200, text.slice(0, 200))
    assert.ok(Buffer.byteLength(text) <= MAX_PAGE_BYTES, `${Buffer.byteLength(text)} bytes`)
    return JSON.parse(text) as Page
  }
})
