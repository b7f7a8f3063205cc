/**
 * Calls of the API. Each is strict: a name that the server does not know is an error, so that a screen never
 * shows all rows as filtered ones. Each failure is an `ApiFailure` with the code of the server, or with one of
 * `OFFLINE`, `TIMEOUT` and `NOT_JSON`.
 */
import type { Operations } from '../../client/types.d.ts'
import { basePath } from '../logic/base.ts'

export type Key = keyof Operations
export type Answer<K extends Key> = Operations[K]['answer']

export type FieldFault = { field: string; code: string; message: string }

/**
 * `params`: of the path. `project`: the id in `X-Project-Id`. It comes from what is shown, and never from the address,
 * which may lead to another project by the time of the call.
 */
export type Input<K extends Key> = {
  params?: Operations[K]['params']
  project?: string
  query?: Operations[K]['query']
  body?: Operations[K]['body']
  headers?: Record<string, string>
  signal?: AbortSignal
  /** A 401 is an answer here: nothing waits for a log-in. */
  isProbe?: boolean
}

export class ApiFailure extends Error {
  readonly status: number
  readonly code: string
  readonly requestId: string | undefined
  readonly fields: readonly FieldFault[]
  readonly details: Readonly<Record<string, unknown>>
  readonly suggestion: string | undefined
  /** Seconds until a new attempt makes sense; undefined if the server gave no time. */
  readonly retryAfter: number | undefined

  constructor(
    code: string,
    message: string,
    more: Partial<Omit<ApiFailure, 'code' | 'message'>> = {},
  ) {
    super(message)
    this.code = code
    this.status = more.status ?? 0
    this.requestId = more.requestId
    this.fields = more.fields ?? []
    this.details = more.details ?? {}
    this.suggestion = more.suggestion
    this.retryAfter = more.retryAfter
  }
}

type Hooks = {
  /** Resolves when a session exists again. The call is then repeated. */
  untilSignedIn(): Promise<void>
  onVersion(version: string): void
  onReachable(isReachable: boolean): void
  /** The role or the state of the project forbids a call. */
  onRefused(): void
  onResetting(project: string | undefined): void
}

const TIMEOUT_MS = 30_000
/** Addresses at which 401 is an answer and not the end of a session. */
const OPEN_PATHS = /^\/(auth|setup|config)(\/|$)/

export const base = basePath(import.meta.url)

let hooks: Hooks | undefined

export function configureClient(wanted: Hooks): void {
  hooks = wanted
}

/** @throws ApiFailure; the reason of `signal` if it was aborted */
export async function call<K extends Key>(key: K, input: Input<K> = {}): Promise<Answer<K>> {
  return withSession(key, input, async () => {
    const { response, text } = await exchange(key, input)
    const value = parse(text, response)
    // The checks of the server answer 503 while one has failed, and are an answer all the same.
    if (response.ok || isChecks(value)) return value as Answer<K>
    throw failed(value, response, input.project)
  })
}

/**
 * The answer of a call that is no JSON, such as the source of an email.
 * @throws as `call`
 */
export async function callText<K extends Key>(key: K, input: Input<K> = {}): Promise<string> {
  return withSession(key, input, async () => {
    const { response, text } = await exchange(key, input)
    if (response.ok) return text
    throw failed(parse(text, response), response, input.project)
  })
}

/** Repeats what met the end of the session, once there is one again. */
async function withSession<K extends Key, Result>(
  key: K,
  input: Input<K>,
  send: () => Promise<Result>,
): Promise<Result> {
  const isOpen = input.isProbe === true || OPEN_PATHS.test(pathOf(key))
  for (;;) {
    try {
      return await send()
    } catch (error) {
      const isOver = error instanceof ApiFailure && error.status === 401
      if (!isOver || isOpen || hooks === undefined) throw error
      await hooks.untilSignedIn()
    }
  }
}

async function exchange<K extends Key>(
  key: K,
  input: Input<K>,
): Promise<{ response: Response; text: string }> {
  const { params, project, query, body, headers, signal } = input
  const [method] = key.split(' ') as [string]
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  let response: Response
  let text: string
  try {
    response = await fetch(address(key, params, query), {
      method,
      headers: {
        Accept: 'application/json, */*;q=0.5',
        Prefer: 'handling=strict',
        ...(project !== undefined && { 'X-Project-Id': project }),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      credentials: 'same-origin',
      redirect: 'error',
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    })
    text = await response.text()
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    if (timeout.aborted) throw new ApiFailure('TIMEOUT', 'The server did not answer in 30 seconds.')
    hooks?.onReachable(false)
    throw new ApiFailure('OFFLINE', error instanceof Error ? error.message : String(error))
  }
  hooks?.onReachable(true)
  const version = response.headers.get('X-Pillarbox-Version')
  if (version !== null) hooks?.onVersion(version)
  return { response, text }
}

/** The address of a call, also for links to files. */
export function address<K extends Key>(
  key: K,
  params?: Operations[K]['params'],
  query?: Operations[K]['query'],
): string {
  const given = (params ?? {}) as Record<string, string>
  const path = pathOf(key).replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(given[name] ?? ''),
  )
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== null && value !== '') search.set(name, String(value))
  }
  const text = search.toString()
  return `${base}${path}${text === '' ? '' : `?${text}`}`
}

function pathOf(key: string): string {
  return key.slice(key.indexOf(' ') + 1)
}

function parse(text: string, { status, headers }: Response): unknown {
  if (text === '') return null
  const isJson = /\bjson\b/.test(headers.get('Content-Type') ?? '')
  try {
    if (isJson) return JSON.parse(text)
  } catch {
    // Told below.
  }
  throw new ApiFailure('NOT_JSON', `The answer with status ${status} is no JSON.`, { status })
}

function isChecks(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'checks' in value && !('error' in value)
}

function failed(value: unknown, response: Response, project: string | undefined): ApiFailure {
  const failure = toFailure(value, response)
  if (failure.status === 403 && project !== undefined) hooks?.onRefused()
  if (failure.details.state === 'resetting') hooks?.onResetting(project)
  return failure
}

function toFailure(value: unknown, { status, headers }: Response): ApiFailure {
  const { error } = (value ?? {}) as { error?: Record<string, unknown> }
  const wait = Number(headers.get('Retry-After') ?? Number.NaN)
  return new ApiFailure(
    typeof error?.code === 'string' ? error.code : 'INTERNAL_SERVER_ERROR',
    typeof error?.message === 'string' ? error.message : `The server answered ${status}.`,
    {
      status,
      requestId:
        (error?.requestId as string | undefined) ?? headers.get('X-Request-ID') ?? undefined,
      fields: (error?.errors as FieldFault[] | undefined) ?? [],
      details: (error?.details as Record<string, unknown> | undefined) ?? {},
      suggestion: error?.suggestion as string | undefined,
      retryAfter: Number.isFinite(wait) ? wait : undefined,
    },
  )
}
