/** A body that its route reads itself, piece by piece: never whole in memory. */
import type { IncomingMessage } from 'node:http'
import { cutOff, tooLarge } from './body.ts'

export type BodyStream = {
  /** As the request says it. */
  contentType: string | undefined
  /**
   * The next piece is asked of the socket when the last one is done with.
   * @throws AppError PAYLOAD_TOO_LARGE above `maxBytes`, before anything is read where the request
   * says how long it is; BAD_REQUEST when the connection ends before the body does
   */
  read(maxBytes: number): AsyncIterable<Buffer>
  /** What has been read so far. */
  sizeBytes(): number
}

export function openBody(incoming: IncomingMessage): BodyStream {
  let sizeBytes = 0

  async function* read(maxBytes: number): AsyncGenerator<Buffer> {
    if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes)
    for await (const chunk of pieces(incoming)) {
      sizeBytes += chunk.length
      if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
      yield chunk
    }
  }

  return { contentType: incoming.headers['content-type'], read, sizeBytes: () => sizeBytes }
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
