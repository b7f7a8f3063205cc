/**
 * A reader thread: parses received messages (`read-received.ts`). The main thread limits the time
 * for each message and replaces the thread; the thread has no state between messages. What is read in one
 * turn is sent together, because what crosses threads costs most by its number.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { describeError } from '../errors.ts'
import type {
  ParsedMessage,
  UnparsedMessage,
} from '../features/receiving/process/parsed-message.ts'
import { createMessageReading, type InboundReaderSettings } from './read-received.ts'

export type ToInboundReader = { id: number; message: UnparsedMessage }[]
export type ReadResult = { id: number; reading: ParsedMessage } | { id: number; error: string }
export type FromInboundReader = { type: 'ready' } | { type: 'read'; results: ReadResult[] }

function main(settings: InboundReaderSettings): void {
  const port = parentPort
  if (port === null) throw new TypeError('inbound-reader-thread.ts runs as a worker thread only')
  const post = (message: FromInboundReader) => port.postMessage(message)
  const read = createMessageReading(settings)
  let results: ReadResult[] = []

  function flush(): void {
    post({ type: 'read', results })
    results = []
  }

  function add(result: ReadResult): void {
    if (results.push(result) === 1) queueMicrotask(flush)
  }

  port.on('message', (tasks: ToInboundReader) => {
    for (const { id, message } of tasks) {
      read(message).then(
        (reading) => add({ id, reading }),
        (error) => add({ id, error: describeError(error) }),
      )
    }
  })
  post({ type: 'ready' })
}

main(workerData as InboundReaderSettings)
