/**
 * The body of a request while it is unread: when the client is asked to send the body, and what
 * happens to the rest of a body that the response does not need.
 *
 * `Expect: 100-continue` (RFC 9110, section 10.1.1): the client waits for a 100 before it sends the
 * body. Node would send the 100 at once. Here the reader of the body sends it, so that a request that
 * is refused earlier gets only the refusal. Other expectations are ignored.
 *
 * A connection whose request is refused while its body arrives must be closed. Closing it at once
 * would lose the response, because many clients read a response only after they have sent
 * everything. So the rest of the body is read and discarded first, up to a limit.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'

/** The pattern that Node uses. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** Bytes discarded beyond the route's own limit. */
const MAX_EXTRA_BYTES = 20 * 1024 * 1024
const MAX_MS = 5_000
/** The listener itself discards up to this many bytes of a body and keeps the connection. */
const SHORT_BYTES = 64 * 1024

/** Handles requests with an expectation like all others. */
export function leaveBodiesToReaders(server: Server): void {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    server.emit('request', incoming, outgoing)
  }
  server.on('checkContinue', pass).on('checkExpectation', pass)
}

/** Sends the status 100 if the client waits for it before it sends the body. */
export function sendContinueFor(incoming: IncomingMessage, outgoing: ServerResponse): void {
  const { httpVersion, headers } = incoming
  if (httpVersion !== '1.1' || outgoing.headersSent) return
  if (CONTINUE.test(headers.expect ?? '')) outgoing.writeContinue()
}

/** Whether the rest of the body is too long for the listener to discard. */
export function isLongUnderWay({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return !(Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= SHORT_BYTES)
}

type LastResponse = {
  status: number
  headers: Readonly<Record<string, string>>
  cookies: readonly string[]
  body: string | Uint8Array
}

/** Sends the response and closes the connection. `maxBytes` is the limit of the route. */
export async function respondAndLinger(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { response, maxBytes }: { response: LastResponse; maxBytes: number },
): Promise<void> {
  const { status, headers, cookies, body } = response
  const sizeBytes = Buffer.byteLength(body)
  const own = { connection: 'close', 'content-length': sizeBytes }
  const set = cookies.length > 0 ? { 'set-cookie': [...cookies] } : {}
  outgoing.writeHead(status, { ...headers, ...set, ...own })
  // The response is ended later, because its end would close the connection at once.
  outgoing.write(body)
  await discardBody(incoming, maxBytes + MAX_EXTRA_BYTES)
  outgoing.end()
}

/** Reads and discards `incoming` until its end, the limit, or a timeout. */
export function discardBody(incoming: Readable, maxBytes: number): Promise<void> {
  return new Promise((resolve) => {
    let sizeBytes = 0
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length
      if (sizeBytes > maxBytes) end()
    }
    // The connection keeps the process alive; the timer alone must not.
    const timer = setTimeout(end, MAX_MS).unref()
    function end(): void {
      clearTimeout(timer)
      incoming.off('data', onData).off('end', end).off('close', end).off('error', end)
      incoming.on('error', () => undefined).pause()
      resolve()
    }
    incoming.on('data', onData).on('end', end).on('close', end).on('error', end)
    if (incoming.destroyed || incoming.readableEnded) end()
    else incoming.resume()
  })
}
