/** A body that its route reads itself, piece by piece: never whole in memory. */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../errors.ts'
import { cutOff, tooLarge } from './body.ts'

export type BodyStream = {
  /** As the request says it. */
  contentType: string | undefined
  /**
   * The next piece is asked of the socket when the last one is done with.
   * @throws AppError PAYLOAD_TOO_LARGE above `maxBytes`, before anything is read where the request
   * says how long it is; BAD_REQUEST when the connection ends before the body does;
   * EXTERNAL_SERVICE_ERROR at once when the server stops
   */
  read(maxBytes: number): AsyncIterable<Buffer>
  /** What has been read so far. */
  sizeBytes(): number
}

/** `stopping`: aborted when the server begins to stop. */
export function openBody(incoming: IncomingMessage, stopping: AbortSignal): BodyStream {
  let sizeBytes = 0

  async function* read(maxBytes: number): AsyncGenerator<Buffer> {
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
    for await (const chunk of until(stopping, pieces(incoming))) {
      sizeBytes += chunk.length
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  }

  return { contentType: incoming.headers['content-type'], read, sizeBytes: () => sizeBytes }
}

/** The same pieces, without waiting for the next one when the server stops. */
async function* until(
  stopping: AbortSignal,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(leaving())
  stopping.addEventListener('abort', stop)
  // What comes first is thrown; the other may come when nobody listens any more.
  stopped.catch(() => undefined)
  try {
    if (stopping.aborted) stop()
    for (;;) {
      const next = await Promise.race([stopped, pieces.next()])
      if (next.done) return
      yield next.value
    }
  } finally {
    stopping.removeEventListener('abort', stop)
    // Not awaited: where a piece is being waited for, it is done with when that has come.
    void pieces.return(undefined)
  }
}

/** The request outlives a reader that stops early: it is still to be answered. */
async function* pieces(incoming: IncomingMessage): AsyncGenerator<Buffer> {
  const iterator = incoming.iterator({ destroyOnReturn: false })
  try {
    yield* iterator
  } catch (error) {
    throw cutOff(error)
  }
}

function leaving(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'The server is stopping. Nothing was accepted.')
}
