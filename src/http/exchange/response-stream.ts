/**
 * A response's body that is made while it is sent: a piece when the client has taken the last one.
 * A client that takes nothing for two minutes is cut off: it would keep what is made for it.
 */

export type StreamEnd = {
  /** What the client was given. */
  sizeBytes: number
  /** Why there is no more; undefined when it was all, or the client has gone. */
  error: unknown
}

export type StreamOut = {
  /** Called once. */
  onEnd(end: StreamEnd): void
  /** Breaks the connection off: the only way left to say that what was sent is not all. */
  cut(): void
  /** Runs what makes a piece. */
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
