/** Every operation says of names that it does not know what became of them, also one that takes no body. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { z } from 'zod'
import { type NameTree, nameTreeOf, unwrapped } from '../../src/http/name-tree.ts'
import type { Route } from '../../src/http/route.ts'
import { createRoutes } from '../../src/http/route-table.ts'
import { transitionRecord, workflowDetail } from '../../src/records/workflow.ts'
import { endCheapPasswords, makePasswordsCheap } from './cheap-passwords.ts'
import { match } from './example-match.ts'
import { createExampleDns, exampleOptions } from './example-preparations.ts'
import { contentOf, createExampleRunner } from './example-runner.ts'
import { exampleSequence } from './example-sequence.ts'
import type { Answer } from './plain-request.ts'
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

test('an unknown name is warned of, or refused', async () => {
  const mine = await service.makeProject('mine')
  const runner = createExampleRunner({ service, mine }, dns)
  const told = { inBody: 0, inNoBody: 0, inQuery: 0 }
  const silent: string[] = []
  for (const step of exampleSequence) {
    const { example, credentials, send } = await runner.prepare(step)
    const place = placeOf(routeOf(step.name))
    const [query, fields] = place === 'inQuery' ? [{ [NAME]: '1' }] : [{}, { [NAME]: 1 }]
    const isSafe = place !== 'inQuery' || step.name.startsWith('GET ')
    let answer = isSafe ? await send(credentials, query, fields) : await send(credentials)
    if (isSafe && answer.status === 422) {
      assert.ok(isNamed(answer.body.error.errors), `${step.name}: ${answer.text}`)
      answer = await send(credentials)
    } else if (isSafe && isObject(answer)) {
      if (isTold(answer.body)) told[place] += 1
      else silent.push(step.name)
    }
    assert.equal(answer.status, example.status, `${step.name}: ${answer.text}`)
    if (isSafe) drop(answer.body, example.response)
    match(example.response, contentOf(answer), runner.bindings)
  }
  assert.deepEqual(silent, [])
  assert.ok(told.inBody > 40, `${told.inBody} operations with a body warned`)
  assert.ok(told.inNoBody > 20, `${told.inNoBody} operations without a body warned`)
  assert.ok(told.inQuery > 60, `${told.inQuery} operations that read warned`)
})

test('the description lists the refusal of an unknown name for every operation', async () => {
  const response = await fetch(new URL('/openapi.json', service.url))
  const description = (await response.json()) as Description
  const without = exampleSequence.filter(({ name }) => {
    const [method = '', path = ''] = name.split(' ')
    const operations = description.paths[path.replaceAll(/:(\w+)/g, '{$1}')]
    return operations?.[method.toLowerCase()]?.responses[422] === undefined
  })
  assert.deepEqual(
    without.map(({ name }) => name),
    [],
  )
})

type Description = { paths: Record<string, Record<string, { responses: Record<string, object> }>> }

/** Where a name can stand that an answer tells of. */
function placeOf(route: Route): 'inBody' | 'inNoBody' | 'inQuery' {
  const { method, path, body, takesForm, takesStream, readsJson } = route
  if (UNREAD.includes(`${method} ${path}`) || takesForm) return 'inQuery'
  if (body !== undefined) return 'inBody'
  const isWithout = takesStream === undefined && readsJson === undefined
  return isWithout && ['POST', 'PUT', 'PATCH'].includes(method) ? 'inNoBody' : 'inQuery'
}

function isObject({ type, body }: Answer): boolean {
  return type === 'application/json' && typeof body === 'object' && !Array.isArray(body)
}

function isTold({ warnings, unknownFields }: Told): boolean {
  return isNamed(warnings) || isNamed(unknownFields)
}

type Told = { warnings?: unknown[]; unknownFields?: unknown[]; data?: unknown }

/** Takes out of an answer what its example does not have. */
function drop(answer: unknown, example: unknown): void {
  const [told, shown]: Told[] = [Object(answer), Object(example)]
  if (told?.unknownFields !== undefined) told.unknownFields = others(told.unknownFields)
  if (Array.isArray(told?.warnings)) {
    told.warnings = others(told.warnings)
    if (told.warnings.length === 0 && shown?.warnings === undefined) delete told.warnings
  }
  if (told?.data !== undefined) drop(told.data, shown?.data)
}

function isNamed(list: unknown): boolean {
  return Array.isArray(list) && others(list).length < list.length
}

/** What is not about the name; the field of a warning, or its text. */
function others(list: readonly unknown[]): unknown[] {
  const textOf = (each: unknown) => (typeof each === 'string' ? each : String(Object(each).field))
  return list.filter((each) => !textOf(each).includes(NAME))
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
