/**
 * The response to a request whose body is still on its way and is not wanted: the connection is to
 * be closed. A connection that is closed on a sender takes the response with it, and many clients
 * look for one only when they have sent everything. So the rest is read and thrown away first, within
 * bounds.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'

/** Beyond what the route would have read of a body. */
const MAX_EXTRA_BYTES = 20 * 1024 * 1024
const MAX_MS = 5_000
/** A rest that may be as long as that is left to the listener, and the connection is kept. */
const SHORT_BYTES = 64 * 1024

/** Whether more is coming than the listener should read on its own. */
export function isLongUnderWay({ complete, headers }: IncomingMessage): boolean {
  if (complete) return false
  return !(Number(headers['content-length'] ?? Number.POSITIVE_INFINITY) <= SHORT_BYTES)
}

export type LastResponse = {
  status: number
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array
}

/** Resolves when the connection may be closed, and closes it. `maxBytes`: what the route takes. */
export async function respondAndLinger(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { response, maxBytes }: { response: LastResponse; maxBytes: number },
): Promise<void> {
  const { status, headers, body } = response
  const sizeBytes = Buffer.byteLength(body)
  outgoing.writeHead(status, { ...headers, connection: 'close', 'content-length': sizeBytes })
  // Not ended: the listener would close the connection at once.
  outgoing.write(body)
  await throwAway(incoming, maxBytes + MAX_EXTRA_BYTES)
  outgoing.end()
}

/** Resolves at the end of `incoming`, or when that is too long in coming. */
export function throwAway(incoming: Readable, maxBytes: number): Promise<void> {
  return new Promise((resolve) => {
    let sizeBytes = 0
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length
      if (sizeBytes > maxBytes) end()
    }
    const timer = setTimeout(end, MAX_MS)
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
