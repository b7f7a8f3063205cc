/**
 * A route: a method and a path, the callers it admits, and the operation that it runs. The schemas
 * of an operation validate the request, type the handler and appear in `/openapi.json`, so the
 * three cannot differ. A handler only translates: it calls a function of `features/` and shapes the
 * result.
 */
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { AppError, FieldWarning, UnknownName } from '../base/errors.ts'
import type { Core } from '../core/core.ts'
import type {
  Caller,
  Callers,
  KeyCaller,
  KnownCallers,
  MemberCaller,
  ProjectCaller,
  SessionUser,
  UserCaller,
} from '../features/tenancy/accounts/callers/caller.ts'
import type { LoginSession, Project, Role } from '../features/tenancy/accounts/rows.ts'
import type { WaitingLimits } from '../turns/turns.ts'
import type { BodyStream } from './body/body-stream.ts'
import type { AnswerAllowance } from './exchange/answer-allowance.ts'
import { mayCompress } from './exchange/compression/compressed-routes.ts'
import type { Traffic } from './exchange/traffic.ts'
import type { Layout } from './pages/layout.ts'
import { createRequestReader } from './request-reader.ts'
import type { HttpResponse } from './response.ts'
import type { OperationExample, ResponseDoc } from './route-docs.ts'
import type { AddressList } from './server/client-address.ts'
import type { NameRules } from './unknown-names.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** A request in the form in which a route gets it from the exchange. */
export type RawCall = {
  requestId: string
  /** Epoch milliseconds. */
  receivedAt: number
  path: string
  /** The address of the client, not of a trusted proxy; null when the connection is closed. */
  address: string | null
  incoming: IncomingMessage
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  /**
   * Parsed JSON or the fields of a form. If the operation takes no body: undefined, or the JSON
   * that the client sent all the same (`expectsNoBody`).
   */
  body: unknown
  /** The unread body, if the operation has `takesStream`. */
  stream: BodyStream | undefined
  /** Reads the body of an operation that declares none. @throws AppError like `readJson` of `body.ts` */
  readJson(maxBytes: number): Promise<unknown>
  /**
   * Waits for memory for an answer of that size, which replaces the `answerBytes` of the operation. A call
   * that has changed something does not wait, because its result must be told.
   * @throws AppError EXTERNAL_SERVICE_ERROR without memory for ten seconds; as `answerLimits`
   */
  reserve(bytes: number): Promise<void>
  idempotencyKey: string | undefined
  /**
   * Adds a warning to an answer that is a JSON object: the call took effect, but perhaps not as its client
   * meant it.
   */
  warn(warning: FieldWarning): void
  /** The warnings so far. When the handler begins, these are the warnings of unknown names. */
  warnings: readonly FieldWarning[]
  /** Warns of names that nothing reads, or refuses them if the client wants that. @throws AppError VALIDATION_ERROR */
  reportUnknown(names: readonly UnknownName[]): void
  /** Null on routes that anyone may call. */
  caller: Caller | null
}

/** A request whose caller has authenticated, of the kinds that the route admits. */
export type CallerCall<Kind extends Caller = Caller> = Omit<RawCall, 'caller'> & { caller: Kind }
/** Calls that the handler of a route gets: any kind of caller, or none. */
type AnyCall = Omit<RawCall, 'caller'> & { caller: Caller | null }

export type Call<Query, Body> = Omit<RawCall, 'query' | 'body'> & {
  query: Query
  body: Body
  /** The names that the body should not have. The answer has warnings of them. */
  unknownNames: readonly FieldWarning[]
}
type CallBy<Kind extends Caller, Query, Body> = Omit<Call<Query, Body>, 'caller'> & { caller: Kind }
export type ProjectCall<Query, Body> = CallBy<ProjectCaller, Query, Body> & { project: Project }
export type UserCall<Query, Body> = CallBy<UserCaller, Query, Body> & {
  user: SessionUser
  session: LoginSession
}
type MemberCall<Query, Body> = CallBy<MemberCaller, Query, Body> & {
  user: SessionUser
  role: Role
  project: Project
}

type Shape<Query, Body> = {
  tag: string
  /** The description of the tag; one operation of the tag gives it. */
  tagText?: string
  summary: string
  description?: string
  /** Descriptions of the path's parameters. */
  params?: Readonly<Record<string, string>>
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** The rules for names that `body` does not have. */
  names?: NameRules
  /** How a client gets the same as CSV, if not by `Accept: text/csv` (`isTableToo`). */
  csvWay?: string
  /** The body is an HTML form, and `body` the schema of its fields. */
  takesForm?: boolean
  /**
   * The handler reads the body from `stream`. `contentType`, `schema`: those of the body, for the
   * description. `isKept`: the handler keeps the whole body in memory, which takes its share of the
   * memory for bodies.
   */
  takesStream?: { contentType: string; schema: z.ZodType; isKept?: boolean }
  /** The schema of a body that the handler reads by `readJson`, for the description. */
  readsJson?: z.ZodType
  /** The limit of the decoded body; 1 MB unless given. */
  maxBodyBytes?: number
  takesIdempotencyKey?: boolean
  /**
   * Memory for the answer; the request waits for it before the handler runs. For a record this is
   * its largest size, for a list LIST_ANSWER_BYTES. Without `answerBytes` the answer must be short.
   */
  answerBytes?: number
  /** How many such requests may wait for memory; without limits any number waits. */
  answerLimits?: WaitingLimits
  /**
   * Whether the operation is refused while the disk is nearly full. By default true for all methods
   * except GET and DELETE on routes that need a key, unless `isRead`.
   */
  growsDisk?: boolean
  /**
   * Whether a request with this body is accepted even on a nearly full disk, because it protects
   * people, as an unsubscription does.
   */
  protects?(givenBody: unknown): boolean
  /**
   * The operation changes nothing although its method is POST: a disabled project and a nearly full disk allow it,
   * as they allow a GET.
   */
  isRead?: boolean
  /** Shows an error as something other than the envelope. */
  showError?(error: AppError, incoming: IncomingMessage): Promise<HttpResponse>
  /** Responses of requests that succeed. */
  responses: Readonly<Record<number, ResponseDoc>>
  /**
   * Statuses of the operation's own errors, in addition to those of all routes with the same
   * callers.
   */
  refusals?: readonly number[]
  /** The example of an operation that is not hidden. A function, so most examples are made only when asked for. */
  example?(): OperationExample
  /** Left out of `/openapi.json`. */
  isHidden?: boolean
  /** The path holds a token, so failures are not written to the request log. */
  isUnlogged?: boolean
}

/** `Request`: the calls that `run` takes, with or without a caller. */
export type Operation<Request extends AnyCall> = Omit<
  Shape<unknown, unknown>,
  'query' | 'body' | 'maxBodyBytes' | 'answerBytes' | 'isHidden' | 'isUnlogged'
> & {
  query: z.ZodType | undefined
  body: z.ZodType | undefined
  maxBodyBytes: number
  answerBytes: number
  isHidden: boolean
  isUnlogged: boolean
  run: (call: Request) => Promise<HttpResponse>
}

export type Route = Omit<Operation<RawCall>, 'growsDisk' | 'isRead' | 'run'> & {
  method: Method
  /** `/templates/:id` */
  path: string
  callers: Callers
  growsDisk: boolean
  isRead: boolean
  /** The operation takes no body. If a body comes, it is read only to warn of the names in it. */
  expectsNoBody: boolean
  /** Whether answers of more than 1 KB are compressed for clients that accept compression. */
  isCompressed: boolean
  run(call: RawCall): Promise<HttpResponse>
}

/** The dependencies of operations. */
export type RouteDeps = {
  core: Core
  traffic: Traffic
  answers: Pick<AnswerAllowance, 'load'>
  proxies: AddressList
  layout: Layout
  /** All routes, for `/openapi.json`. */
  listRoutes(): readonly Route[]
}

/** The limit for operations that set none. */
export const DEFAULT_BODY_BYTES = 1024 * 1024

/** An operation that needs no caller. */
export function openOperation<Query = undefined, Body = undefined>(
  shape: Shape<Query, Body> & {
    handle(call: Call<Query, Body>): Promise<HttpResponse> | HttpResponse
  },
): Operation<RawCall> {
  const { read, checkAnswer } = createRequestReader(shape)
  return {
    ...withDefaults(shape),
    run: async (call) => checkAnswer(call, await shape.handle({ ...call, ...read(call) })),
  }
}

/** An operation on the caller's project. */
export function projectOperation<Query = undefined, Body = undefined>(
  shape: Shape<Query, Body> & {
    handle(call: ProjectCall<Query, Body>): Promise<HttpResponse> | HttpResponse
  },
): Operation<CallerCall<ProjectCaller>> {
  const { read, checkAnswer } = createRequestReader(shape)
  return {
    ...withDefaults(shape),
    run: async (call) => {
      const { project } = call.caller
      return checkAnswer(call, await shape.handle({ ...call, project, ...read(call) }))
    },
  }
}

/** An operation of a user who has logged in, on no project. */
export function userOperation<Query = undefined, Body = undefined>(
  shape: Shape<Query, Body> & {
    handle(call: UserCall<Query, Body>): Promise<HttpResponse> | HttpResponse
  },
): Operation<CallerCall<UserCaller>> {
  const { read, checkAnswer } = createRequestReader(shape)
  return {
    ...withDefaults(shape),
    run: async (call) => {
      const { user, session } = call.caller
      return checkAnswer(call, await shape.handle({ ...call, user, session, ...read(call) }))
    },
  }
}

/** An operation of a member on the project in the path. */
export function memberOperation<Query = undefined, Body = undefined>(
  shape: Shape<Query, Body> & {
    handle(call: MemberCall<Query, Body>): Promise<HttpResponse> | HttpResponse
  },
): Operation<CallerCall<MemberCaller>> {
  const { read, checkAnswer } = createRequestReader(shape)
  return {
    ...withDefaults(shape),
    run: async (call) => {
      const { user, role, project } = call.caller
      return checkAnswer(call, await shape.handle({ ...call, user, role, project, ...read(call) }))
    },
  }
}

/** An operation of a user or of a project's key. */
export function userOrKeyOperation<Query = undefined, Body = undefined>(
  shape: Shape<Query, Body> & {
    handle(call: CallBy<UserCaller | KeyCaller, Query, Body>): Promise<HttpResponse> | HttpResponse
  },
): Operation<CallerCall<UserCaller | KeyCaller>> {
  const { read, checkAnswer } = createRequestReader(shape)
  return {
    ...withDefaults(shape),
    run: async (call) => checkAnswer(call, await shape.handle({ ...call, ...read(call) })),
  }
}

type Endpoint = { method: Method; path: string }

/** A route without authentication. */
export function openRoute(endpoint: Endpoint, operation: Operation<RawCall>): Route {
  const { growsDisk = false, isRead = endpoint.method === 'GET' } = operation
  const isCompressed = mayCompress({ ...endpoint, callers: 'anyone' })
  const expectsNoBody = isWithoutBody(endpoint, operation)
  const own = { callers: 'anyone', growsDisk, isRead, expectsNoBody, isCompressed } as const
  return { ...operation, ...endpoint, ...own }
}

/**
 * A route for known callers. Its rule (`features/tenancy/accounts/callers/caller.ts`) admits only callers that the
 * operation takes: the types of the table see to that.
 */
export function callerRoute(
  { callers, ...endpoint }: Endpoint & { callers: KnownCallers },
  operation: Operation<CallerCall<never>>,
): Route {
  const { isRead = endpoint.method === 'GET' } = operation
  const { growsDisk = !isRead && endpoint.method !== 'DELETE' } = operation
  return {
    ...operation,
    ...endpoint,
    callers,
    growsDisk,
    isRead,
    expectsNoBody: isWithoutBody(endpoint, operation),
    isCompressed: mayCompress({ ...endpoint, callers }),
    run: (call) => {
      if (call.caller === null) throw new TypeError(`${endpoint.path} was called without a caller`)
      return operation.run(call as CallerCall<never>)
    },
  }
}

/**
 * Whether a client may send a body by mistake: this operation takes no body, but other operations
 * with the same method do. Hidden routes are left out, because no client would see their warnings.
 */
function isWithoutBody(
  { method }: Endpoint,
  { body, takesStream, readsJson, isHidden }: Omit<Operation<never>, 'run'>,
): boolean {
  if (isHidden || method === 'GET' || method === 'DELETE') return false
  return [body, takesStream, readsJson].every((each) => each === undefined)
}

/** The project and the `:id` of the path, which identify the record of a call. */
export function rowKeyOf({ project, params }: ProjectCall<unknown, unknown>) {
  return { projectId: project.id, id: params.id ?? '' }
}

function withDefaults<Query, Body>(shape: Shape<Query, Body>) {
  return {
    ...shape,
    query: shape.query,
    body: shape.body,
    maxBodyBytes: shape.maxBodyBytes ?? DEFAULT_BODY_BYTES,
    answerBytes: shape.answerBytes ?? 0,
    isHidden: shape.isHidden ?? false,
    isUnlogged: shape.isUnlogged ?? false,
  }
}
