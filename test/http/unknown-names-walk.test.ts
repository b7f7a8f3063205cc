/** Every operation with a JSON body says of names that it does not know what became of them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { type NameTree, nameTreeOf, unwrapped } from '../../src/http/name-tree.ts'
import type { Route } from '../../src/http/route.ts'
import { createRoutes } from '../../src/http/route-table.ts'
import { transitionRecord, workflowDetail } from '../../src/http/shapes/workflow.ts'
import { endCheapPasswords, makePasswordsCheap } from './cheap-passwords.ts'
import { match } from './example-match.ts'
import { contentOf, createExampleRunner } from './example-runner.ts'
import { createExampleDns, exampleOptions, exampleSequence } from './example-sequence.ts'
import { startService } from './service.ts'

const NAME = 'notAFieldOfAnything'

/** Nobody sees the answers of these: Amazon and Stripe call them, and read no warnings. */
const UNREAD = ['POST /webhooks/sns', 'POST /webhooks/incoming/stripe']

const dns = createExampleDns()
let service: Awaited<ReturnType<typeof startService>>
let routes: readonly Route[]

before(async () => {
  makePasswordsCheap()
  service = await startService(exampleOptions(dns))
  routes = createRoutes({ core: service.core } as never)
})

after(async () => {
  endCheapPasswords()
  await service.stop()
})

function routeOf(name: string): Route {
  const route = routes.find(({ method, path }) => `${method} ${path}` === name)
  assert.ok(route, name)
  return route
}

test('an unknown name is refused with Prefer: handling=strict, and warned of or refused without', async () => {
  const mine = await service.makeProject('mine')
  const runner = createExampleRunner({ service, mine }, dns)
  const silent: string[] = []
  let warned = 0
  for (const step of exampleSequence) {
    const { example, credentials, send } = await runner.prepare(step)
    const { body, takesForm } = routeOf(step.name)
    const isJson = body !== undefined && !takesForm && !UNREAD.includes(step.name)
    let answer: Awaited<ReturnType<typeof send>> | undefined
    if (isJson) {
      const strict = { ...credentials, prefer: 'handling=strict' }
      const refused = await send(strict, {}, { [NAME]: 1 })
      assert.equal(refused.status, 422, `${step.name}: ${refused.text}`)
      assert.ok(isNamed(refused.body.error.errors), `${step.name}: ${refused.text}`)
      assert.match(refused.body.error.message, new RegExp(`^${NAME}: there is no such field`))
      answer = await send(credentials, {}, { [NAME]: 1 })
      if (answer.status === 422) {
        assert.ok(isNamed(answer.body.error.errors), `${step.name}: ${answer.text}`)
        answer = undefined
      } else if (answer.type === 'application/json' && !Array.isArray(answer.body)) {
        const { warnings, unknownFields = warnings } = answer.body
        if (isNamed(unknownFields)) warned += 1
        else silent.push(step.name)
        if (warnings === unknownFields) delete answer.body.warnings
      }
    }
    answer ??= await send(credentials)
    assert.equal(answer.status, example.status, `${step.name}: ${answer.text}`)
    if (isJson) drop(answer.body)
    match(example.response, contentOf(answer), runner.bindings)
  }
  assert.deepEqual(silent, [])
  assert.ok(warned > 40, `${warned} operations warned`)
})

/** What the examples without the name do not have. */
function drop(body: { data?: { warnings?: unknown }; unknownFields?: unknown[] } | undefined) {
  if (body?.data !== undefined) delete body.data?.warnings
  if (body?.unknownFields !== undefined) Object.assign(body, { unknownFields: [], warnings: [] })
}

function isNamed(list: unknown): boolean {
  return Array.isArray(list) && list.some((each) => (each.field ?? each) === NAME)
}

test('a client may send back the record that it got', () => {
  const unread: string[] = []
  for (const { method, path, body, responses, names } of routes) {
    if (!['POST', 'PUT', 'PATCH'].includes(method) || body === undefined) continue
    const list = method === 'POST' ? path : path.replace(/\/:\w+$/, '')
    const record = recordOf(answerOf(path)) ?? memberOf(answerOf(list))
    if (record === undefined) continue
    const shown = names?.record ?? recordOf(Object.values(responses)[0]?.schema)
    unread.push(...unknownTo(nameTreeOf(body, shown), record, `${method} ${path}:`))
  }
  assert.deepEqual(unread, [])
})

test('a client may send back the steps and transitions of a workflow as a graph', () => {
  const { body, names } = routeOf('PUT /workflows/:id/graph')
  assert.ok(body)
  const tree = nameTreeOf(body, names?.record)
  const transitions = z.array(transitionRecord)
  assert.deepEqual(unknownTo(tree, workflowDetail.extend({ transitions }), 'graph:'), [])
})

/** What GET answers there. */
function answerOf(path: string): z.ZodType | undefined {
  const shown = routes.find((route) => route.method === 'GET' && route.path === path)
  return shown?.responses[200]?.schema
}

/** The names of `record` that cause a warning, at any depth. */
function unknownTo(tree: NameTree | undefined, record: z.core.$ZodType, at: string): string[] {
  if (tree?.fields === undefined) return []
  return Object.entries(shapeOf(record)).flatMap(([name, part]) => {
    const place = `${at} ${name}`
    if (tree.readOnly.has(name) || tree.isOpen) return []
    if (tree.fields?.has(name) !== true) return [place]
    const inner = unwrapped(part)
    const below = tree.fields.get(name)
    if (inner._zod.def.type !== 'array') return unknownTo(below, part, place)
    return unknownTo(below?.members, inner._zod.def.element, place)
  })
}

/** What has an id, alone or as `data`. */
function recordOf(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  if (schema === undefined) return undefined
  const { id, data } = shapeOf(schema)
  if (id !== undefined) return schema
  return data !== undefined && shapeOf(data).id !== undefined ? data : undefined
}

/** A record of the list in an answer. */
function memberOf(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  if (schema === undefined) return undefined
  for (const each of [schema, ...Object.values(shapeOf(schema))]) {
    const { def } = unwrapped(each)._zod
    if (def.type === 'array') return def.element
  }
  return undefined
}

function shapeOf(schema: z.core.$ZodType): Readonly<Record<string, z.core.$ZodType>> {
  const { def } = unwrapped(schema)._zod
  return def.type === 'object' ? def.shape : {}
}
