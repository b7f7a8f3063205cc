/**
 * `Prefer: handling=strict` at every route: a name that the operation does not know is refused, wherever it
 * stands, and so is one that stands twice in the query, also without a value, and a parameter without a name, and nothing is done; a request without such a name takes
 * effect as any other.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type NameTree, nameTreeOf } from '../../src/http/name-tree.ts'
import type { Route } from '../../src/http/route.ts'
import { type TestProject, trustDomain } from '../core.ts'
import { logIn } from '../session.ts'
import { endCheapPasswords, makePasswordsCheap } from './cheap-passwords.ts'
import { changedTables, digestTables } from './digest-tables.ts'
import { match } from './example-match.ts'
import { createExampleDns, exampleOptions } from './example-preparations.ts'
import { contentOf, createExampleRunner } from './example-runner.ts'
import { exampleSequence } from './example-sequence.ts'
import { findRoute } from './listed-routes.ts'
import { OPEN_PAGES } from './open-pages.ts'
import { type Answer, sendPlainly } from './plain-request.ts'
import { startService } from './service.ts'

const NAME = 'notAFieldOfAnything'
const OTHERS = ['POST /webhooks/sns', 'POST /webhooks/incoming/stripe']
const STRICT = { prefer: 'handling=strict' }

const dns = createExampleDns()
let service: Awaited<ReturnType<typeof startService>>
let mine: TestProject

before(async () => {
  makePasswordsCheap()
  service = await startService(exampleOptions(dns))
})

after(async () => {
  endCheapPasswords()
  await service.stop()
})

test('an unknown or repeated name is refused at every operation and depth, and nothing is done', async () => {
  const runner = createExampleRunner({ service, mine: await service.makeProject('walked') }, dns)
  let nested = 0
  let repeated = 0
  for (const step of exampleSequence) {
    const { example, credentials, send } = await runner.prepare(step)
    const strict = { ...credentials, ...STRICT }
    const route = findRoute(service.core, step.name)
    const earlier = await digestTables(service.core)
    refuses(step.name, await send(strict, { [NAME]: '1' }), NAME)
    refuses(step.name, await send(strict, { [NAME]: '' }), NAME)
    refuses(step.name, await send(strict, { '': '1' }), 'query')
    for (const name of parametersOf(route).slice(0, 1)) {
      refuses(step.name, await send(strict, { [name]: ['1', '1'] }), name)
      repeated += 1
    }
    if (takesNames(route)) refuses(step.name, await send(strict, {}, { [NAME]: 1 }), NAME)
    for (const path of placesIn(route)) {
      const [first = '', ...rest] = path
      const fields = { [first]: valueAt(rest, Object(example.request)[first]) }
      refuses(step.name, await send(strict, {}, fields), [...path, NAME].join('.'))
      nested += 1
    }
    const changes = changedTables(earlier, await digestTables(service.core))
    assert.deepEqual(changes, [], `${step.name} was refused`)
    const answer = await send(strict)
    assert.equal(answer.status, example.status, `${step.name}: ${answer.text}`)
    assert.equal(answer.headers['preference-applied'], 'handling=strict', step.name)
    match(example.response, contentOf(answer), runner.bindings)
  }
  assert.ok(nested > 15, `${nested} objects in bodies`)
  assert.ok(repeated > 10, `${repeated} queries`)
})

/** Whether a body may have names. The bodies of other services have what these send. */
function takesNames({ method, path }: Route): boolean {
  return ['POST', 'PUT', 'PATCH'].includes(method) && !OTHERS.includes(`${method} ${path}`)
}

function parametersOf({ query }: Route): string[] {
  return query === undefined ? [] : [...(nameTreeOf(query)?.fields?.keys() ?? [])]
}

/** The paths of the objects below the body that have fields of their own, with 0 for a member. */
function placesIn({ body }: Route): string[][] {
  return body === undefined ? [] : objectsBelow(nameTreeOf(body)).filter(({ length }) => length > 0)
}

function objectsBelow(tree: NameTree | undefined): string[][] {
  if (tree === undefined) return []
  const own = tree.fields === undefined || tree.isOpen ? [] : [[]]
  const fields = [...(tree.fields ?? [])].flatMap(([name, part]) =>
    objectsBelow(part).map((path) => [name, ...path]),
  )
  const members = objectsBelow(tree.members).map((path) => ['0', ...path])
  return [...own, ...fields, ...members]
}

/** The value of an example with an unknown name at this place. */
function valueAt([first, ...rest]: readonly string[], value: unknown): unknown {
  const given = typeof value === 'object' ? value : undefined
  if (first === undefined) return { ...given, [NAME]: 1 }
  if (first !== '0') return { ...given, [first]: valueAt(rest, Object(given)[first]) }
  const [member, ...others] = Array.isArray(given) ? given : []
  return [valueAt(rest, member), ...others]
}

function refuses(name: string, { status, text, body, headers }: Answer, field: string): void {
  assert.equal(status, 422, `${name}: ${text}`)
  const fault = body.error.errors.find((each: { field: string }) => each.field === field)
  assert.equal(fault?.code, 'unrecognized', `${name}, ${field}: ${text}`)
  assert.equal(headers['preference-applied'], 'handling=strict', name)
}

async function sendStrictly(method: string, path: string, content?: object): Promise<Answer> {
  const headers = { ...STRICT, authorization: `Bearer ${mine.secret}` }
  return sendPlainly(new URL(path, service.url), { method, headers, content })
}

describe('strict handling', () => {
  // Not before: an example lets all users be those of the sandbox.
  before(async () => {
    mine = await service.makeProject('mine')
  })

  for (const name of OPEN_PAGES) {
    test(`${name} refuses an unknown name, in its form too`, async () => {
      const cookie = await logIn(service.core, mine.ownerId)
      const [method = '', path = ''] = name.split(' ')
      const token = path.startsWith('/projects/') ? mine.id : 'x'
      const place = new URL(path.replaceAll(/:\w+(\{.+\})?/g, token), service.url)
      const request = { method, headers: { ...STRICT, cookie }, redirect: 'manual' } as const
      const answer = await fetch(`${place}?${NAME}=1`, request)
      assert.equal(answer.status, 422, await answer.text())
      assert.equal(answer.headers.get('preference-applied'), 'handling=strict')
      const nameless = await fetch(`${place}?=1`, request)
      assert.equal(nameless.status, 422, await nameless.text())
      if (findRoute(service.core, name).takesForm !== true) return
      const body = new URLSearchParams({ [NAME]: '1' })
      const refused = await fetch(place, { ...request, body })
      assert.equal(refused.status, 422, await refused.text())
    })
  }

  test('names that are data are free', async () => {
    await trustDomain(service.core, mine.id, 'free.test')
    const data = { [NAME]: { [NAME]: 1 } }
    const email = 'ann@free.test'
    const message = { to: email, from: email, subject: 'a', body: 'b' }
    const workflow = { name: 'free', triggerConfig: { eventName: 'free' } }
    const { body: made } = await sendStrictly('POST', '/workflows', workflow)
    const config = { updates: data }
    const step = { type: 'UPDATE_CONTACT', name: 'a', position: { x: 0, y: 0 }, config }
    const requests: [method: string, path: string, body: object][] = [
      ['POST', '/contacts', { email, data }],
      ['POST', '/v1/track', { email, event: 'free', data }],
      ['POST', '/events/track', { email, name: 'free', data }],
      ['POST', '/v1/send', { ...message, data, headers: { 'X-Not-A-Field': 'a' } }],
      ['POST', '/render', { subject: 'a', body: 'b', data }],
      ['POST', `/workflows/${made.id}/steps`, step],
    ]
    for (const [method, path, body] of requests) {
      const { status, text } = await sendStrictly(method, path, body)
      assert.ok(status < 300, `${method} ${path}: ${text}`)
    }
  })

  test('an unknown name in a condition is refused', async () => {
    const filter = { field: 'email', operator: 'exists', [NAME]: 1 }
    const group = { filters: [filter], [NAME]: 1 }
    const condition = { logic: 'AND', groups: [group], [NAME]: 1 }
    for (const [path, field, body] of [
      ['/segments', 'condition', { name: 'a', condition }],
      ['/contacts/query', 'condition', { condition }],
      [
        '/campaigns/audience',
        'audienceCondition',
        { audienceType: 'FILTERED', audienceCondition: condition },
      ],
      ['/contacts/bulk-subscribe', 'filter.condition', { mode: 'query', filter: { condition } }],
    ] as const) {
      const answer = await sendStrictly('POST', path, body)
      refuses(path, answer, `${field}.${NAME}`)
      refuses(path, answer, `${field}.groups.0.${NAME}`)
      refuses(path, answer, `${field}.groups.0.filters.0.${NAME}`)
    }
  })

  test('a projectId that chooses nothing is refused, and one that chooses is not', async () => {
    const path = `/contacts?projectId=${mine.id}`
    refuses(path, await sendStrictly('GET', path), 'projectId')
    const headers = { ...STRICT, cookie: await logIn(service.core, mine.ownerId) }
    const { status } = await sendPlainly(new URL(path, service.url), { headers })
    assert.equal(status, 200)
  })

  test('a query may have known names without values, and nothing between two &', async () => {
    for (const query of ['?search=', '?search', '?', '?&&search=&']) {
      const { status, text } = await sendStrictly('GET', `/contacts${query}`)
      assert.equal(status, 200, `${query}: ${text}`)
    }
    for (const query of ['?=', '?=1', '?limit=5&=', '?limit=5&=1&=2']) {
      refuses(query, await sendStrictly('GET', `/contacts${query}`), 'query')
    }
  })

  test('a path without a route is not found, whatever its names', async () => {
    assert.equal((await sendStrictly('GET', `/nothing?${NAME}=1`)).status, 404)
    assert.equal((await sendStrictly('PATCH', `/contacts?${NAME}=1`)).status, 405)
  })
})
