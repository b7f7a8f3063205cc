/** Sends the examples of the API's description to a server, as any caller. */
import supertest from 'supertest'
import { type KnownCallers, ruleOf } from '../../src/features/tenancy/accounts/callers/caller.ts'
import type { OperationExample } from '../../src/http/route-docs.ts'
import { ROUTES } from '../../src/http/route-table.ts'
import { logIn } from '../session.ts'
import { type Bindings, bind } from './example-match.ts'
import { type createExampleDns, EXAMPLE_IDS, type ExampleStep } from './example-preparations.ts'
import { findExample } from './listed-routes.ts'
import { type Answer, sendPlainly } from './plain-request.ts'
import type { Method, StartedService } from './service.ts'

export type Headers = Record<string, string>

/** An example whose records exist. */
type PreparedExample = {
  example: OperationExample
  callers: KnownCallers | 'anyone'
  /** The id in the path, if any. */
  pathId: string | undefined
  /** The headers of a caller that is admitted. */
  credentials: Headers
  /** `query` and `fields` are those that the example does not have. */
  send(
    credentials: Headers,
    query?: Readonly<Record<string, string | readonly string[]>>,
    fields?: Readonly<Record<string, unknown>>,
  ): Promise<Answer>
}

export type ExampleRunner = {
  bindings: Bindings
  prepare(step: ExampleStep): Promise<PreparedExample>
}

/** `started` may be empty until the tests begin. */
export function createExampleRunner(
  started: Pick<StartedService, 'service' | 'mine'>,
  dns: ReturnType<typeof createExampleDns>,
): ExampleRunner {
  const { service, mine } = started
  const bindings: Bindings = new Map()

  async function prepare(step: ExampleStep): Promise<PreparedExample> {
    const { name, headers = {}, sign } = step
    const [method = '', path = ''] = name.split(' ')
    const example = findExample(service.core, name)
    if (example === undefined) throw new TypeError(`${name} has no example`)
    bindings.set(EXAMPLE_IDS.project, mine.id)
    const real = (id: string) => bindings.get(id) ?? id
    const context = { core: service.core, projectId: mine.id, dns, real }
    const made = Object(await step.prepare?.(context)) as Record<string, string>
    for (const [parameter, value] of Object.entries(made)) {
      bindings.set(example.params?.[parameter] ?? '', value)
    }
    const { params = {}, query = {}, request: content } = bind(example, bindings)
    const url = path.replaceAll(/:(\w+)/g, (_, parameter: string) =>
      encodeURIComponent(made[parameter] ?? params[parameter] ?? ''),
    )
    const callers = callersOf(name)
    const cookie = await step.cookie?.(context)
    const credentials = cookie === undefined ? await credentialsFor(callers) : { cookie }
    const body = { content, own: step.fields?.(), file: step.file?.() }
    const signed = sign?.(context, JSON.stringify(content))
    return {
      example,
      callers,
      pathId: made.id ?? params.id,
      credentials,
      send: (given, more = {}, fields) => {
        const whole =
          fields === undefined ? body : { ...body, content: { ...Object(content), ...fields } }
        const search = new URLSearchParams()
        for (const [name, given] of Object.entries({ ...query, ...more })) {
          for (const value of [given].flat()) search.append(name, value)
        }
        const target = new URL(`${url}?${search}`, service.url)
        return sendBody({ method, target, headers: { ...headers, ...given, ...signed } }, whole)
      },
    }
  }

  /** The project's secret key, or else a session of its owner. */
  async function credentialsFor(callers: KnownCallers | 'anyone'): Promise<Headers> {
    const authorization = `Bearer ${mine.secret}`
    if (callers === 'anyone' || ruleOf(callers).keys.length > 0) return { authorization }
    return { cookie: await logIn(service.core, mine.ownerId) }
  }

  return { bindings, prepare }
}

export function callersOf(name: string): KnownCallers | 'anyone' {
  const row = ROUTES.find(([method, path]) => `${method} ${path}` === name)
  if (row === undefined) throw new TypeError(`${name} is no route`)
  return row[2]
}

type StepBody = {
  content: unknown
  own: object | undefined
  file: ReturnType<NonNullable<ExampleStep['file']>> | undefined
}

type Request = { method: string; target: URL; headers: Headers }

function sendBody(
  { method, target, headers }: Request,
  { content, own, file: form }: StepBody,
): Promise<Answer> {
  const { file, ...fields } = Object({ ...Object(content), ...own }) as Record<string, string>
  if (form === undefined && file === undefined) {
    return sendPlainly(target, { method, headers, content: own === undefined ? content : fields })
  }
  const verb = method.toLowerCase() as Method
  const request = supertest(target.origin)[verb](target.pathname).query(target.search.slice(1))
  request.set(headers)
  for (const [field, value] of Object.entries(fields)) {
    if (field !== form?.field) request.field(field, value)
  }
  if (form !== undefined) return answerOf(request.attach(form.field, form.content, form.name))
  return answerOf(request.attach('file', Buffer.from(file ?? ''), 'people.csv'))
}

async function answerOf(request: supertest.Test): Promise<Answer> {
  const { status, type, headers, text, body } = await request
  return { status, type, headers, text, body }
}

export function contentOf({ body, text, type, status }: Omit<Answer, 'headers'>): unknown {
  if (status === 204) return undefined
  return type === 'application/json' ? body : text
}
