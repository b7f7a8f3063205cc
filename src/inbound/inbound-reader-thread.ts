/**
 * A reader thread: parses received messages (`read-received.ts`). The main thread limits the time
 * for each message and replaces the thread; the thread keeps nothing of a message. What is read in
 * one turn is sent together, because the number of messages between threads costs more than their
 * size. A turn ends before a message that may take long or end the thread, so that those that were
 * read are not lost with it.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import { describeError } from '../base/errors.ts'
import type {
  ParsedMessage,
  UnparsedMessage,
} from '../features/incoming/receiving/process/parsed-message.ts'
import { createMessageReading, type InboundReaderSettings } from './read-received.ts'

export type ToInboundReader = { id: number; message: UnparsedMessage }[]
type ReadResult = { id: number; reading: ParsedMessage } | { id: number; error: string }
export type FromInboundReader = { type: 'ready' } | { type: 'read'; results: ReadResult[] }

const MAX_TURN_MS = 10
/** A message of more octets begins a turn. */
const LARGE_BYTES = 64 * 1024

function main(settings: InboundReaderSettings): void {
  const port = parentPort
  if (port === null) throw new TypeError('inbound-reader-thread.ts runs as a worker thread only')
  const post = (message: FromInboundReader) => port.postMessage(message)
  const read = createMessageReading(settings)
  const waiting: ToInboundReader = []
  let isReading = false
  let turnBeganAt = 0
  let results: ReadResult[] = []

  function flush(): void {
    post({ type: 'read', results })
    results = []
  }

  function add(result: ReadResult): void {
    if (results.push(result) === 1) queueMicrotask(flush)
  }

  async function readWaiting(): Promise<void> {
    isReading = true
    turnBeganAt = performance.now()
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const { id, message } = task
      if (mustBeginTurn(message)) {
        await nextTurn()
        turnBeganAt = performance.now()
      }
      read(message).then(
        (reading) => add({ id, reading }),
        (error) => add({ id, error: describeError(error) }),
      )
    }
    isReading = false
  }

  function mustBeginTurn({ raw }: UnparsedMessage): boolean {
    return raw.byteLength > LARGE_BYTES || performance.now() - turnBeganAt > MAX_TURN_MS
  }

  port.on('message', (tasks: ToInboundReader) => {
    waiting.push(...tasks)
    if (!isReading) void readWaiting()
  })
  post({ type: 'ready' })
}

main(workerData as InboundReaderSettings)
