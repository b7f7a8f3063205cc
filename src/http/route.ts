/**
 * What a route is: one line of the API's table. Its schemas validate the request, type the handler
 * and are what `/openapi.json` shows, so that the three cannot differ. A handler only translates:
 * it calls a verb of `features/` and shapes what that answers.
 */
import type { IncomingMessage } from 'node:http'
import type { z } from 'zod'
import type { AppError } from '../errors.ts'
import type { Project } from '../features/messages/accept/plan.ts'
import type { BodyStream } from './body/body-stream.ts'
import { validate } from './validation/validation.ts'

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof methods)[number]

/** Who may call: the project's secret key, either of its keys, or anybody. */
export type Permission = 'secret' | 'any' | 'none'

/**
 * A response before the headers that all responses share. A body that comes in pieces is asked for
 * the next one when the client has taken the last, and no more when it has gone.
 */
export type Reply = {
  status: number
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>
  headers: Readonly<Record<string, string>>
}

/** What the framework knows of a request when a route begins. */
export type RawCall = {
  requestId: string
  /** Epoch milliseconds. */
  receivedAt: number
  path: string
  /** Where it comes from, proxies that are trusted left out; null when the peer is gone. */
  address: string | null
  incoming: IncomingMessage
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
  /** Parsed JSON, or the fields of a form; undefined where the route takes neither. */
  body: unknown
  /** The body as it comes, where the route takes it so. */
  stream: BodyStream | undefined
  /** Reads the body of a route that declares none. @throws AppError as `body.ts` */
  readJson(maxBytes: number): Promise<unknown>
  idempotencyKey: string | undefined
  /** Null where no key is asked for. */
  project: Project | null
}

export type Call<Query, Body> = Omit<RawCall, 'query' | 'body' | 'project'> & {
  query: Query
  body: Body
  /** The body before its schema left out what it does not know. */
  givenBody: unknown
}
export type KeyedCall<Query, Body> = Call<Query, Body> & { project: Project }

export type ResponseDoc = {
  description: string
  schema?: z.ZodType
  contentType?: string
}

type Shape<Query, Body> = {
  method: Method
  /** `/templates/:id` */
  path: string
  tag: string
  summary: string
  description?: string
  params?: Readonly<Record<string, string>>
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** Its body is an HTML form, of which `body` is given the fields: `readForm`. */
  takesForm?: boolean
  /** Its body is left unread, for the handler to read from `stream`; this is what to say of it. */
  takesStream?: { contentType: string; schema: z.ZodType }
  /** Of its body, decoded; 1 MB where its own limits ask for no more. */
  maxBodyBytes?: number
  takesIdempotencyKey?: boolean
  /**
   * Whether it is refused while the disk is nearly full. Where nothing is said: what a key is asked
   * for, unless it reads or deletes.
   */
  growsDisk?: boolean
  /** Of a route that grows the disk: whether this body is let pass all the same, for it protects people. */
  protects?(givenBody: unknown): boolean
  /** Shows a refusal in a way of its own; the others show the envelope. */
  showError?(error: AppError, incoming: IncomingMessage): Promise<Reply>
  /** The answers to a request that succeeds. */
  responses: Readonly<Record<number, ResponseDoc>>
  /** Statuses of its own refusals, besides those that every route of its permission has. */
  refusals?: readonly number[]
}

type OpenShape<Query, Body> = Shape<Query, Body> & {
  permission: 'none'
  /** Left out of `/openapi.json`. */
  isHidden?: boolean
  /** Its path holds a token: its failures are no lines of the request log. */
  isUnlogged?: boolean
  handle(call: Call<Query, Body>): Promise<Reply> | Reply
}

type KeyedShape<Query, Body> = Shape<Query, Body> & {
  permission: 'secret' | 'any'
  handle(call: KeyedCall<Query, Body>): Promise<Reply> | Reply
}

/** What a route takes that says nothing else. */
export const DEFAULT_BODY_BYTES = 1024 * 1024

export type Route = Omit<Shape<unknown, unknown>, 'query' | 'body'> & {
  permission: Permission
  growsDisk: boolean
  maxBodyBytes: number
  isHidden: boolean
  isUnlogged: boolean
  query: z.ZodType | undefined
  body: z.ZodType | undefined
  run(call: RawCall): Promise<Reply>
}

/** A route that nobody needs a key for. */
export function openRoute<Query = undefined, Body = undefined>(
  shape: OpenShape<Query, Body>,
): Route {
  return {
    ...shape,
    growsDisk: shape.growsDisk ?? false,
    maxBodyBytes: shape.maxBodyBytes ?? DEFAULT_BODY_BYTES,
    isHidden: shape.isHidden ?? false,
    isUnlogged: shape.isUnlogged ?? false,
    query: shape.query,
    body: shape.body,
    run: async (call) => shape.handle({ ...call, ...validated(shape, call), givenBody: call.body }),
  }
}

/** A route of a project, which the key names. */
export function keyedRoute<Query = undefined, Body = undefined>(
  shape: KeyedShape<Query, Body>,
): Route {
  return {
    ...shape,
    growsDisk: shape.growsDisk ?? !['GET', 'DELETE'].includes(shape.method),
    maxBodyBytes: shape.maxBodyBytes ?? DEFAULT_BODY_BYTES,
    isHidden: false,
    isUnlogged: false,
    query: shape.query,
    body: shape.body,
    run: async (call) => {
      if (call.project === null) throw new TypeError(`${shape.path} was called without a project`)
      const { project, body: givenBody } = call
      return shape.handle({ ...call, project, ...validated(shape, call), givenBody })
    },
  }
}

/** @throws AppError VALIDATION_ERROR */
function validated<Query, Body>(
  shape: Shape<Query, Body>,
  call: RawCall,
): { query: Query; body: Body } {
  return {
    query: shape.query === undefined ? (undefined as Query) : validate(shape.query, call.query),
    body: shape.body === undefined ? (undefined as Body) : validate(shape.body, call.body),
  }
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8' }

export function json(status: number, value: unknown): Reply {
  return { status, body: JSON.stringify(value), headers: jsonHeaders }
}

export function noContent(): Reply {
  return { status: 204, body: '', headers: {} }
}
