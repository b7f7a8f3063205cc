/**
 * Reads the body of a response up to a limit. Its octets are copied together: a short piece of the network's
 * buffers would otherwise hold the 64 KB that it arrived in.
 */
import type { IncomingMessage } from 'node:http'
import { Ended } from './failure.ts'

type BodyLimits = {
  maxBodyBytes: number
  /** Whether a longer body is cut off, and not an error. */
  cutsBody: boolean
}

/** Calls `done` before it closes the connection of a body that it cuts off. */
export function readBody(
  response: IncomingMessage,
  { maxBodyBytes, cutsBody }: BodyLimits,
  fail: (error: unknown) => void,
  done: (bytes: Buffer, isCut: boolean) => void,
): void {
  let bytes = Buffer.alloc(0)
  let size = 0
  response.on('data', (chunk: Buffer) => {
    if (size > maxBodyBytes) return
    const needed = Math.min(size + chunk.length, maxBodyBytes)
    if (needed > bytes.length) {
      const longer = Buffer.alloc(Math.min(Math.max(needed, 2 * bytes.length), maxBodyBytes))
      bytes.copy(longer, 0, 0, size)
      bytes = longer
    }
    chunk.copy(bytes, size)
    size += chunk.length
    if (size <= maxBodyBytes) return
    if (cutsBody) done(bytes, true)
    else fail(new Ended('too large', 'the response is too large'))
    response.destroy()
  })
  response.on('error', fail)
  response.on('end', () => done(bytes.subarray(0, size), false))
}
