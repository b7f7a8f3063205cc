/**
 * HTTP responses, the headers that all of them share, and how a response is written. A body of several pieces is
 * produced while it is sent: each piece after the client has taken the previous one, and when it is the turn of
 * the response, so that many responses at once do not hold the event loop. A client that takes nothing is
 * disconnected (`server/connections.ts`).
 */
import { type ServerResponse, validateHeaderValue } from 'node:http'

/**
 * A body of several pieces produces the next piece when the client has taken the previous one, and
 * none after the client has disconnected.
 */
export type HttpResponse = {
  status: number
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>
  headers: Readonly<Record<string, string>>
  /** The value that a JSON body was made from. */
  value?: unknown
  /** The body already has the warnings of the call, in a list of its own. */
  hasWarnings?: true
  /**
   * Bytes that the body keeps in memory until its end. By default the length of a complete body, and the
   * reserved memory of a body in pieces.
   */
  reservedBytes?: number
  /** Values of Set-Cookie header fields. */
  cookies?: readonly string[]
}

type Head = {
  status: number
  /** The last value of a name counts. */
  headers: readonly Readonly<Record<string, string>>[]
  /** Values of Set-Cookie header fields. */
  cookies?: readonly string[]
}

export type BodyEnd = {
  /** Bytes that were sent. */
  sizeBytes: number
  /** The error that ended the body; undefined when it was complete or the client disconnected. */
  error: unknown
}

type PiecesOut = {
  /** Called once. */
  onEnd(end: BodyEnd): void
  /** Closes the connection: the only way left to show that the body is incomplete. */
  cut(): void
  /** Wraps the production of each piece. */
  within?<T>(make: () => Promise<T>): Promise<T>
  /** Resolves when it is the turn of this response. */
  nextTurn?(): Promise<void>
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

/** The headers of every response. */
const EVERYWHERE = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cache-control': 'no-store',
} as const

/** Pages of any origin may call the public API; no other page may call the rest. */
const PUBLIC_API = {
  ...EVERYWHERE,
  'access-control-allow-origin': '*',
  'access-control-expose-headers':
    'X-Request-ID, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, Preference-Applied',
} as const

export const PREFLIGHT_HEADERS = {
  'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
  'access-control-allow-headers': 'Content-Type, Authorization, Prefer',
  'access-control-max-age': '86400',
} as const

const PIECE_BYTES = 128 * 1024
/** Longer bodies are sent in pieces. */
export const WHOLE_BYTES = 2 * PIECE_BYTES

/** Statuses of responses without a body (RFC 9110, section 6.4.1). */
const BODYLESS: ReadonlySet<number> = new Set([204, 304])

export function json(status: number, value: unknown): HttpResponse {
  return { status, body: JSON.stringify(value), headers: JSON_HEADERS, value }
}

export function noContent(): HttpResponse {
  return { status: 204, body: '', headers: {} }
}

export function commonHeaders(isPublicApi: boolean): Record<string, string> {
  return isPublicApi ? { ...PUBLIC_API } : { ...EVERYWHERE }
}

/**
 * Sends a response whose body is complete. Node leaves the body out in a response to HEAD, and with
 * a status that has no body. Throws as `writeHead`.
 */
export function sendWhole(outgoing: ServerResponse, head: Head, body: string | Uint8Array): void {
  const hasBody = outgoing.req.method !== 'HEAD' && !BODYLESS.has(head.status)
  writeHead(outgoing, head, hasBody ? Buffer.byteLength(body) : undefined)
  outgoing.end(body)
}

/**
 * Sends the head at once, or throws as `writeHead`. The promise resolves when the body has ended, and never
 * rejects.
 */
export function sendPieces(
  outgoing: ServerResponse,
  { head, pieces, out }: { head: Head; pieces: AsyncIterable<Uint8Array>; out: PiecesOut },
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]()
  if (!outgoing.destroyed) {
    try {
      writeHead(outgoing, head)
    } catch (error) {
      abandon(iterator)
      throw error
    }
    outgoing.flushHeaders()
  }
  return sendBody(outgoing, iterator, out)
}

async function sendBody(
  outgoing: ServerResponse,
  iterator: AsyncIterator<Uint8Array>,
  { onEnd, cut, within = (make) => make(), nextTurn }: PiecesOut,
): Promise<void> {
  let sizeBytes = 0
  let isOver = false
  const end = (error?: unknown): void => {
    isOver = true
    outgoing.off('close', leave)
    onEnd({ sizeBytes, error })
  }
  function leave(): void {
    end()
    abandon(iterator)
  }
  if (outgoing.destroyed) return leave()
  outgoing.once('close', leave)
  try {
    while (!isOver) {
      await nextTurn?.()
      if (isOver) return
      const next = await within(() => iterator.next())
      if (isOver) return
      if (next.done) {
        end()
        outgoing.end()
        return
      }
      sizeBytes += next.value.length
      if (!outgoing.write(next.value)) await untilTaken(outgoing)
    }
  } catch (error) {
    if (isOver) return
    end(error)
    cut()
  }
}

/**
 * Yields octets in pieces, so that a slow client has only one piece in the buffers of its
 * connection.
 */
export async function* piecesOfOctets(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < octets.length; at += PIECE_BYTES)
    yield octets.subarray(at, at + PIECE_BYTES)
}

/**
 * Ends the production of a body that nobody reads any more. Errors of the body do not matter then.
 */
function abandon(iterator: AsyncIterator<Uint8Array>): void {
  iterator.return?.().catch(() => undefined)
}

/**
 * Gives Node the fields as one list, because each field that is set on its own is checked, copied and checked again.
 * @throws TypeError for a value that no header field may have; after that another head can still be
 *   written
 */
function writeHead(
  outgoing: ServerResponse,
  { status, headers, cookies = [] }: Head,
  sizeBytes?: number,
): void {
  const fields: string[] = []
  let isLengthGiven = sizeBytes === undefined
  for (let at = 0; at < headers.length; at += 1) {
    const own = headers[at] ?? {}
    for (const name in own) {
      if (isReplaced(headers, at, name)) continue
      fields.push(name, own[name] ?? '')
      isLengthGiven ||= name === 'content-length'
    }
  }
  for (const cookie of cookies) fields.push('set-cookie', cookie)
  if (!isLengthGiven) fields.push('Content-Length', String(sizeBytes))
  if (BODYLESS.has(status)) checkValues(fields)
  try {
    outgoing.writeHead(status, fields)
  } catch (error) {
    outgoing.statusMessage = ''
    throw error
  }
}

/**
 * Checks the fields before Node gets a status without a body: Node would send no body afterwards, even if it
 * refuses these fields and another head follows.
 */
function checkValues(fields: readonly string[]): void {
  for (let at = 0; at < fields.length; at += 2) {
    validateHeaderValue(fields[at] ?? '', fields[at + 1] ?? '')
  }
}

/** Whether later headers have the name too. */
function isReplaced(headers: Head['headers'], at: number, name: string): boolean {
  for (let later = at + 1; later < headers.length; later += 1) {
    if (name in (headers[later] ?? {})) return true
  }
  return false
}

/** Resolves when the client takes more, or has left. */
function untilTaken(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const goOn = (): void => {
      outgoing.off('drain', goOn).off('close', goOn)
      resolve()
    }
    outgoing.on('drain', goOn).on('close', goOn)
  })
}
