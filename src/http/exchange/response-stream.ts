/**
 * A response body that is produced while it is sent. Each piece is produced after the client has
 * taken the previous one. A client that takes nothing for two minutes is disconnected, because it
 * holds resources.
 */

export type StreamEnd = {
  /** Bytes that were sent. */
  sizeBytes: number
  /** The error that ended the body; undefined when it was complete or the client disconnected. */
  error: unknown
}

type StreamOut = {
  /** Called once. */
  onEnd(end: StreamEnd): void
  /** Closes the connection: the only way left to show that the body is incomplete. */
  cut(): void
  /** Wraps the production of each piece. */
  within?<T>(make: () => T): T
}

const STALL_MS = 120_000

export function toStream(
  pieces: AsyncIterable<Uint8Array>,
  { onEnd, cut, within = (make) => make() }: StreamOut,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  let sizeBytes = 0
  let isOver = false
  let stall: NodeJS.Timeout | undefined
  const end = (error?: unknown): void => {
    if (isOver) return
    isOver = true
    onEnd({ sizeBytes, error })
  }
  return new ReadableStream(
    {
      async pull(controller) {
        clearTimeout(stall)
        const next = await within(() => iterator.next()).catch((error) => ({ error }))
        if (isOver) return
        if ('error' in next) {
          end(next.error)
          cut()
          controller.close()
        } else if (next.done) {
          end()
          controller.close()
        } else {
          sizeBytes += next.value.length
          controller.enqueue(next.value)
          stall = setTimeout(cut, STALL_MS).unref()
        }
      },
      async cancel() {
        clearTimeout(stall)
        end()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
