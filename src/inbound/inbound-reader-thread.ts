/**
 * A reader thread: parses received messages (`read-received.ts`). The main thread limits the time
 * for each message and replaces the thread; the thread has no state between messages.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { describeError } from '../errors.ts'
import type {
  ParsedMessage,
  UnparsedMessage,
} from '../features/receiving/process/parsed-message.ts'
import { createMessageReading, type InboundReaderSettings } from './read-received.ts'

export type ToInboundReader = { id: number; message: UnparsedMessage }
export type FromInboundReader =
  | { type: 'ready' }
  | { type: 'read'; id: number; reading: ParsedMessage }
  | { type: 'failed'; id: number; error: string }

function main(settings: InboundReaderSettings): void {
  const port = parentPort
  if (port === null) throw new TypeError('inbound-reader-thread.ts runs as a worker thread only')
  const post = (message: FromInboundReader) => port.postMessage(message)
  const read = createMessageReading(settings)
  port.on('message', ({ id, message }: ToInboundReader) => {
    read(message).then(
      (reading) => post({ type: 'read', id, reading }),
      (error) => post({ type: 'failed', id, error: describeError(error) }),
    )
  })
  post({ type: 'ready' })
}

main(workerData as InboundReaderSettings)
