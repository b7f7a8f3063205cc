/** A body that the route reads itself, piece by piece, so that it is never in memory as a whole. */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../../base/errors.ts'
import { announcedLength, decodedBody, GROWTH_BYTES, toBodyError, tooLarge } from './body.ts'
import { createBodyPace } from './body-pace.ts'

export type BodyStream = {
  /** The Content-Type header. */
  contentType: string | undefined
  /**
   * Reads the next piece from the socket when the consumer asks for it. If the consumer keeps the
   * pieces, each is read when there is memory for it.
   * @throws AppError PAYLOAD_TOO_LARGE above `maxBytes`, before the first piece if Content-Length
   *   exceeds it; UNSUPPORTED_MEDIA_TYPE; VALIDATION_ERROR 400 when decoding fails; BAD_REQUEST
   *   when the connection ends before the body; REQUEST_TIMEOUT when the body arrives too slowly;
   *   EXTERNAL_SERVICE_ERROR at once when the server stops; the errors of `growTo`
   */
  read(maxBytes: number): AsyncIterable<Buffer>
  /** Decoded bytes read so far. */
  sizeBytes(): number
}

type StreamOptions = {
  /** Aborted when the server begins to stop. */
  stopping: AbortSignal
  /** Asks a client that waits for a 100 to send the body; called before the first read. */
  sendContinue(): void
  /**
   * Grows the body's share of memory (`growTo` of `BodyShare`); present if the consumer keeps the
   * pieces.
   */
  growTo?: ((bytes: number) => Promise<void> | undefined) | undefined
}

export function openBody(
  incoming: IncomingMessage,
  { stopping, sendContinue, growTo = () => undefined }: StreamOptions,
): BodyStream {
  let sizeBytes = 0

  async function* read(maxBytes: number): AsyncGenerator<Buffer> {
    let reservedBytes = announcedLength(incoming) ?? 0
    if (reservedBytes > maxBytes) throw tooLarge(maxBytes)
    const source = decodedBody(incoming)
    await growTo(reservedBytes)
    sendContinue()
    try {
      for await (const chunk of until(stopping, pieces(incoming, source))) {
        sizeBytes += chunk.length
        if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
        // A body without a Content-Length, or a compressed body, outgrows its reserved memory.
        if (sizeBytes > reservedBytes) {
          reservedBytes = Math.min(maxBytes, sizeBytes + GROWTH_BYTES)
          await growTo(reservedBytes)
        }
        yield chunk
      }
    } finally {
      if (source !== incoming) source.destroy()
    }
  }

  return { contentType: incoming.headers['content-type'], read, sizeBytes: () => sizeBytes }
}

/**
 * Yields the same pieces. Throws instead of waiting when the server stops or the sender is too
 * slow.
 */
async function* until(
  stopping: AbortSignal,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const pace = createBodyPace()
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = (): void => reject(serverStopping())
  stopping.addEventListener('abort', stop)
  // `stopped` may be rejected after this generator has ended: nothing awaits it then.
  stopped.catch(() => undefined)
  try {
    if (stopping.aborted) stop()
    for (;;) {
      pace.watch(reject)
      const next = await Promise.race([stopped, pieces.next()])
      pace.pause()
      if (next.done) return
      pace.count(next.value.length)
      yield next.value
    }
  } finally {
    pace.pause()
    stopping.removeEventListener('abort', stop)
    // The return is not awaited, because a pending read ends only when its piece arrives.
    void pieces.return(undefined)
  }
}

/** Keeps the request open when the reader stops early, because a response is still to be sent. */
async function* pieces(incoming: IncomingMessage, source: Readable): AsyncGenerator<Buffer> {
  try {
    yield* source.iterator({ destroyOnReturn: false })
  } catch (error) {
    throw toBodyError(incoming, error)
  }
}

function serverStopping(): AppError {
  return new AppError('EXTERNAL_SERVICE_ERROR', 'The server is stopping. Nothing was accepted.')
}
