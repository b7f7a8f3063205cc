/**
 * Writes responses. A body of several pieces is produced while it is sent: each piece after the client has
 * taken the previous one, and when it is the turn of the response, so that many responses at once do not hold
 * the event loop. A client that takes nothing is disconnected (`server/stalled-answers.ts`).
 */
import type { ServerResponse } from 'node:http'

export type Head = {
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

/** Statuses of responses without a body (RFC 9110, section 6.4.1). */
const BODYLESS: ReadonlySet<number> = new Set([204, 304])

/** Node sends no body with a response to HEAD, nor with a status that has none. Throws as `setHead`. */
export function sendWhole(outgoing: ServerResponse, head: Head, body: string | Uint8Array): void {
  setHead(outgoing, head)
  // Node gives its length only to clients that know chunks, and ends the connection for others (HTTP/1.0).
  const isLengthGiven = outgoing.useChunkedEncodingByDefault || outgoing.req.method === 'HEAD'
  if (!isLengthGiven && !BODYLESS.has(head.status)) {
    outgoing.setHeader('Content-Length', Buffer.byteLength(body))
  }
  outgoing.end(body)
}

/**
 * Sends the head at once, or throws as `setHead`. What it returns resolves when the body has ended, and
 * never rejects.
 */
export function sendPieces(
  outgoing: ServerResponse,
  { head, pieces, out }: { head: Head; pieces: AsyncIterable<Uint8Array>; out: PiecesOut },
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]()
  if (!outgoing.destroyed) {
    try {
      setHead(outgoing, head)
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

/** What has left nobody, an error of it included, concerns nobody. */
function abandon(iterator: AsyncIterator<Uint8Array>): void {
  iterator.return?.().catch(() => undefined)
}

/**
 * @throws TypeError for a value that no header field may have; the response has no fields then, so that another
 *   one can be sent.
 */
function setHead(outgoing: ServerResponse, { status, headers, cookies = [] }: Head): void {
  try {
    outgoing.statusCode = status
    for (const fields of headers) {
      for (const name in fields) outgoing.setHeader(name, fields[name] ?? '')
    }
    if (cookies.length > 0) outgoing.setHeader('set-cookie', cookies)
  } catch (error) {
    if (!outgoing.headersSent) {
      for (const name of outgoing.getHeaderNames()) outgoing.removeHeader(name)
    }
    throw error
  }
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
