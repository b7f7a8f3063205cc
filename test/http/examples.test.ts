/** The examples of the API's description, sent to a server and compared with its answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import supertest from 'supertest'
import { match } from './example-match.ts'
import { contentOf, createExampleRunner } from './example-runner.ts'
import { createExampleDns, exampleSequence } from './example-sequence.ts'
import { useService } from './service.ts'

const dns = createExampleDns()
const started = useService({ resolver: dns.resolver })
const { bindings, prepare } = createExampleRunner(started, dns)
const bindings: Bindings = new Map()

const { service, mine, call } = useService(
  { resolver: dns.resolver, accounts: { disableSignups: false } },
  (started) => bindings.set(EXAMPLE_IDS.project, started.mine.id),
)

for (const step of exampleSequence) {
  test(`the example of ${step.name} matches the response of the server`, async () => {
    const { example, credentials, send } = await prepare(step)
    const answer = await send(credentials)
    assert.equal(answer.status, example.status, answer.text)
    match(example.response, contentOf(answer), bindings)
  })
}

import { testExamples } from './example-run.ts'
import { exampleSequence } from './example-sequence.ts'

const { service } = testExamples('key')

test('every described operation has an example, and all examples run here', async () => {
  const { body } = await supertest(started.service.url).get('/openapi.json')
  const paths = Object.entries<Record<string, unknown>>(body.paths)
  const described = paths.flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  const shown = exampleSequence.map(({ name }) => name.replaceAll(/:(\w+)/g, '{$1}'))
  const without = described.filter((name) => !shown.includes(name))
  const outdated = shown.filter((name) => !described.includes(name))
  assert.deepEqual(
    { without, outdated },
    { without: [], outdated: [] },
    'an operation needs an example in src/http/examples/ and a step in test/http/example-sequence.ts',
  )
})

async function send(
  { name, headers = {}, cookie: cookieOf, prepare, fields: own, file: fileOf }: ExampleStep,
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
  if (cookie !== undefined) request.unset('Authorization').set('Cookie', cookie)
  if (fileOf !== undefined) {
    const { field, name: filename, content: bytes } = fileOf()
    return request.attach(field, bytes, filename)
  }
  const { file, ...fields } = Object({ ...Object(content), ...own?.() }) as Record<string, string>
  if (file === undefined) {
    return request.send(own === undefined ? (content as object | undefined) : fields)
  }
  for (const [field, value] of Object.entries(fields)) request.field(field, value)
  return request.attach('file', Buffer.from(file), 'people.csv')
}

/** Routes that admit sessions only get one; the others get the project's secret key. */
async function cookieFor(
  name: string,
  own: () => Promise<string> | undefined,
): Promise<string | undefined> {
  const callers = ROUTES.find(([method, path]) => `${method} ${path}` === name)?.[2] ?? 'anyone'
  const given = await own()
  if (given !== undefined || callers === 'anyone') return given
  return ruleOf(callers).keys.length > 0 ? undefined : logIn(service.core, mine.ownerId)
}

function contentOf({ body, text, type, status }: supertest.Response): unknown {
  if (status === 204) return undefined
  return type === 'application/json' ? body : text
}
