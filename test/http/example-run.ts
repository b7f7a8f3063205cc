/** Sends the examples of the API's description to a server, as the holder of a key or as a member. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type supertest from 'supertest'
import { ruleOf } from '../../src/features/accounts/caller.ts'
import { removeMember } from '../../src/features/accounts/members/remove.ts'
import { findExample } from '../../src/http/examples/all.ts'
import type { OperationExample } from '../../src/http/examples/operation-example.ts'
import { ROUTES } from '../../src/http/route-table.ts'
import { addMember, addUser, logIn } from '../session.ts'
import { type Bindings, bind, match } from './example-match.ts'
import {
  createExampleDns,
  EXAMPLE_IDS,
  type ExampleStep,
  exampleSequence,
} from './example-sequence.ts'
import { type Method, useService } from './service.ts'

/**
 * Declares a test for each example. `member`: where a route admits a member of a project, a user of the
 * least role that it admits sends the request, and names the project in the query of a GET.
 */
export function testExamples(sender: 'key' | 'member') {
  const dns = createExampleDns()
  const bindings: Bindings = new Map()
  const started = useService({ resolver: dns.resolver }, ({ mine }) =>
    bindings.set(EXAMPLE_IDS.project, mine.id),
  )
  const { service, mine, call } = started
  const guests: string[] = []

  for (const step of exampleSequence) {
    test(`the example of ${step.name} matches the response of the server`, async () => {
      const [method = '', path = ''] = step.name.split(' ')
      const example = findExample(method, path)
      assert.ok(example)
      const answer = await send(step, example)
      await removeGuests()
      assert.equal(answer.status, example.status, answer.text)
      match(example.response, contentOf(answer), bindings)
    })
  }

  async function send(
    { name, headers = {}, cookie: cookieOf, prepare, fields: own }: ExampleStep,
    example: OperationExample,
  ) {
    const [method = '', path = ''] = name.split(' ')
    const real = (id: string) => bindings.get(id) ?? id
    const context = { core: service.core, projectId: mine.id, dns, real }
    const made = Object(await prepare?.(context)) as Record<string, string>
    for (const [parameter, value] of Object.entries(made)) {
      bindings.set(example.params?.[parameter] ?? '', value)
    }
    const cookie = await cookieFor(name, () => cookieOf?.(context))
    const { params = {}, query = {}, request: content } = bind(example, bindings)
    const url = path.replaceAll(/:(\w+)/g, (_, parameter: string) =>
      encodeURIComponent(made[parameter] ?? params[parameter] ?? ''),
    )
    const request = call(method.toLowerCase() as Method, url)
      .query(query)
      .set(headers)
    if (cookie !== undefined) {
      request.unset('Authorization').set('Cookie', cookie)
      if (isOnProject(name)) nameProject(request, method)
    }
    const { file, ...fields } = Object({ ...Object(content), ...own?.() }) as Record<string, string>
    if (file === undefined) {
      return request.send(own === undefined ? (content as object | undefined) : fields)
    }
    for (const [field, value] of Object.entries(fields)) request.field(field, value)
    return request.attach('file', Buffer.from(file), 'people.csv')
  }

  function nameProject(request: supertest.Test, method: string): void {
    if (method === 'GET') request.query({ projectId: mine.id })
    else request.set('X-Project-Id', mine.id)
  }

  /** Routes that admit sessions only get one. */
  async function cookieFor(
    name: string,
    own: () => Promise<string> | undefined,
  ): Promise<string | undefined> {
    const callers = callersOf(name)
    const given = await own()
    if (given !== undefined || callers === 'anyone') return given
    const { keys, session } = ruleOf(callers)
    if (keys.length === 0) return logIn(service.core, mine.ownerId)
    if (sender === 'key' || session === null || session.project === null) return undefined
    return logIn(service.core, session.role === 'MEMBER' ? await addGuest() : mine.ownerId)
  }

  /** A member for one request: an example lists the members of the project. */
  async function addGuest(): Promise<string> {
    const { id } = await addUser(service.core)
    await addMember(service.core, { projectId: mine.id, userId: id, role: 'MEMBER' })
    guests.push(id)
    return id
  }

  async function removeGuests(): Promise<void> {
    for (const userId of guests.splice(0)) {
      await removeMember(service.core, { projectId: mine.id, userId })
    }
  }

  return started
}

function callersOf(name: string) {
  return ROUTES.find(([method, path]) => `${method} ${path}` === name)?.[2] ?? 'anyone'
}

function isOnProject(name: string): boolean {
  const callers = callersOf(name)
  return callers === 'member' || callers === 'admin'
}

function contentOf({ body, text, type, status }: supertest.Response): unknown {
  if (status === 204) return undefined
  return type === 'application/json' ? body : text
}
