/**
 * A body of several pieces, compressed while it is sent: each piece is compressed and flushed
 * before the next one is made, so that the client gets it as early as without compression. zlib
 * works on the threads of libuv. A reader that leaves ends the compression and the pieces.
 */
import {
  type BrotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  type Gzip,
} from 'node:zlib'
import type { ContentCoding } from './compressed-routes.ts'

/** The memory that the compression of one body takes. */
export const COMPRESSION_BYTES = 1024 * 1024

const GZIP_LEVEL = 5
const BROTLI_PARAMS = {
  [constants.BROTLI_PARAM_QUALITY]: 4,
  /** A window of 128 KB: the default of Brotli would be 4 MB. */
  [constants.BROTLI_PARAM_LGWIN]: 17,
}

export const GZIP_OPTIONS = { level: GZIP_LEVEL }
export const BROTLI_OPTIONS = { params: BROTLI_PARAMS }

export function compressPieces(
  pieces: AsyncIterable<Uint8Array>,
  coding: ContentCoding,
): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => compressing(pieces[Symbol.asyncIterator](), coding) }
}

function compressing(
  source: AsyncIterator<Uint8Array>,
  coding: ContentCoding,
): AsyncIterator<Uint8Array> {
  /** The compressor is made with the first piece, because it has memory of its own. */
  let compressor: Compressor | undefined
  let isOver = false
  /** The running call of `next`, or the last one. */
  let last: Promise<unknown> = Promise.resolve()

  async function produce(): Promise<IteratorResult<Uint8Array>> {
    try {
      while (!isOver) {
        compressor ??= startCompressor(coding)
        const { done = false, value } = await source.next()
        if (done) isOver = true
        const made = done ? await compressor.end() : await compressor.add(value)
        if (done) compressor.stop()
        if (made.length > 0) return { done: false, value: made }
      }
      return { done: true, value: undefined }
    } catch (error) {
      isOver = true
      compressor?.stop()
      throw error
    }
  }

  return {
    next() {
      const made = produce()
      last = made.catch(() => undefined)
      return made
    },
    async return() {
      isOver = true
      await last
      compressor?.stop()
      await source.return?.()
      return { done: true, value: undefined }
    },
  }
}

type Compressor = {
  /** Compresses a piece and returns the octets to send. */
  add(piece: Uint8Array): Promise<Uint8Array>
  end(): Promise<Uint8Array>
  stop(): void
}

function startCompressor(coding: ContentCoding): Compressor {
  const stream: Gzip | BrotliCompress =
    coding === 'br' ? createBrotliCompress(BROTLI_OPTIONS) : createGzip(GZIP_OPTIONS)
  const flushKind = coding === 'br' ? constants.BROTLI_OPERATION_FLUSH : constants.Z_SYNC_FLUSH
  let made: Buffer[] = []
  stream.on('data', (piece: Buffer) => made.push(piece))
  const take = () => {
    const taken = Buffer.concat(made)
    made = []
    return new Uint8Array(taken.buffer, taken.byteOffset, taken.length)
  }

  let failure: Error | undefined
  let refuse: ((error: Error) => void) | undefined
  // An error between two pieces fails the next piece.
  stream.on('error', (error) => {
    failure ??= error
    refuse?.(error)
  })

  function whenDone(begin: (done: () => void) => void): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      if (failure !== undefined) {
        reject(failure)
        return
      }
      refuse = reject
      begin(() => resolve(take()))
    })
  }

  return {
    add: (piece) =>
      whenDone((done) => {
        stream.write(piece)
        // The stream emits its output before the next turn of the event loop.
        stream.flush(flushKind, () => setImmediate(done))
      }),
    end: () =>
      whenDone((done) => {
        stream.once('end', done)
        stream.end()
      }),
    stop: () => stream.destroy(),
  }
}
