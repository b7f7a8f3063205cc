/** A body that its route reads itself, piece by piece: never whole in memory. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import { announcedLength, tooLarge } from './body.ts'
import { decodedBody, toBodyError } from './content-encoding.ts'
import { createPace } from './pace.ts'

export type BodyStream = {
  /** As the request says it. */
  contentType: string | undefined
  /**
   * The next piece is asked of the socket when the last one is done with.
   * @throws AppError PAYLOAD_TOO_LARGE above `maxBytes`, before anything is read where the request
   * says how long it is; UNSUPPORTED_MEDIA_TYPE; VALIDATION_ERROR 400 where it cannot be decoded;
   * BAD_REQUEST when the connection ends before the body does; REQUEST_TIMEOUT when it comes too
   * slowly; EXTERNAL_SERVICE_ERROR at once when the server stops
   */
  read(maxBytes: number): AsyncIterable<Buffer>
  /** What has been read so far, decoded. */
  sizeBytes(): number
}

/**
 * `stopping`: aborted when the server begins to stop. `invite` is called when the body is about to
 * be read.
 */
export function openBody(
  incoming: IncomingMessage,
  { stopping, invite }: { stopping: AbortSignal; invite(): void },
): BodyStream {
  let sizeBytes = 0

  async function* read(maxBytes: number): AsyncGenerator<Buffer> {
    if ((announcedLength(incoming) ?? 0) > maxBytes) throw tooLarge(maxBytes)
    const source = decodedBody(incoming)
    invite()
    try {
      for await (const chunk of until(stopping, pieces(incoming, source))) {
        sizeBytes += chunk.length
        if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
        yield chunk
      }
    } finally {
      if (source !== incoming) source.destroy()
    }
  }

  return { contentType: incoming.headers['content-type'], read, sizeBytes: () => sizeBytes }
}

/** The same pieces, without waiting for the next one when the server stops or it is too slow. */
async function* until(
  stopping: AbortSignal,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const pace = createPace()
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(leaving())
  stopping.addEventListener('abort', stop)
  // What comes first is thrown; the other may come when nobody listens any more.
  stopped.catch(() => undefined)
  try {
    if (stopping.aborted) stop()
    for (;;) {
      pace.watch(reject)
      const next = await Promise.race([stopped, pieces.next()])
      pace.rest()
      if (next.done) return
      pace.count(next.value.length)
      yield next.value
    }
  } finally {
    pace.rest()
    stopping.removeEventListener('abort', stop)
    // Not awaited: where a piece is being waited for, it is done with when that has come.
    void pieces.return(undefined)
  }
}

/** The request outlives a reader that stops early: it is still to be answered. */
async function* pieces(incoming: IncomingMessage, source: Readable): AsyncGenerator<Buffer> {
  try {
    yield* source.iterator({ destroyOnReturn: false })
  } catch (error) {
    throw toBodyError(incoming, error)
  }
}

function leaving(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'The server is stopping. Nothing was accepted.')
}
