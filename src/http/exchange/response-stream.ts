/**
 * A response body that is produced while it is sent. Each piece is produced after the client has
 * taken the previous one, and when it is the turn of the response: many responses at once do not hold
 * the event loop. A client that takes nothing is disconnected (`server/stalled-answers.ts`).
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
  within?<T>(make: () => Promise<T>): Promise<T>
  /** Resolves when it is the turn of this response. */
  nextTurn?(): Promise<void>
}

export function toStream(
  pieces: AsyncIterable<Uint8Array>,
  { onEnd, cut, within = (make) => make(), nextTurn }: StreamOut,
): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]()
  let sizeBytes = 0
  let isOver = false
  const end = (error?: unknown): void => {
    if (isOver) return
    isOver = true
    onEnd({ sizeBytes, error })
  }
  return new ReadableStream(
    {
      async pull(controller) {
        await nextTurn?.()
        if (isOver) return
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
        }
      },
      async cancel() {
        end()
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}
