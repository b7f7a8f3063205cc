/**
 * A request's body, read from the socket itself and counted as it comes, whatever Content-Length
 * says. It takes its share of the memory for bodies, and is given up when it comes too slowly. The
 * content type is not looked at: clients of this API family do not all set it.
 */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { AppError } from '../../errors.ts'
import { type BodyShare, FREE_BODY_BYTES } from './body-allowance.ts'
import { decodedBody, toBodyError } from './content-encoding.ts'
import { parseJson } from './json.ts'
import { createPace } from './pace.ts'

/** What a body of unknown length is given at a time. */
const GROWTH_BYTES = 1024 * 1024

export type ReadBody = { value: unknown; sizeBytes: number }

export type BodyLimits = {
  /** Of the body as it is when it is decoded. */
  maxBytes: number
  share: BodyShare
  /** Is called when the body is about to be read. */
  invite(): void
}

/**
 * @throws AppError PAYLOAD_TOO_LARGE above `maxBytes`; VALIDATION_ERROR 400 for what is not JSON,
 * 422 for more than can be handled; UNSUPPORTED_MEDIA_TYPE; REQUEST_TIMEOUT; BAD_REQUEST when the
 * connection ends before the body does; what `share` throws
 */
export async function readJson(incoming: IncomingMessage, limits: BodyLimits): Promise<ReadBody> {
  const bytes = await readBytes(incoming, limits)
  const sizeBytes = bytes.length
  const value = await parseJson(bytes)
  giveUp(bytes)
  return { value, sizeBytes }
}

/** Large bodies need not wait for a garbage collection, which takes no notice of their size. */
function giveUp({ buffer, length }: Buffer): void {
  const isItsOwn = length > FREE_BODY_BYTES && buffer.byteLength === length
  if (isItsOwn && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/**
 * The fields of a form, whatever its content type says; of a body that is no such form, or larger
 * than `maxBytes`, none: what a form's caller wants is in its path, and is done anyway (RFC 8058).
 * @throws AppError BAD_REQUEST when the connection ends before the body does; REQUEST_TIMEOUT
 */
export async function readForm(incoming: IncomingMessage, limits: BodyLimits): Promise<ReadBody> {
  try {
    const bytes = await readBytes(incoming, limits)
    const value = Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
    return { value, sizeBytes: bytes.length }
  } catch (error) {
    if (error instanceof AppError && noForm.has(error.code)) return { value: {}, sizeBytes: 0 }
    throw error
  }
}

const noForm: ReadonlySet<string> = new Set([
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
])

/** Undefined where the request does not say. */
export function announcedLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

async function readBytes(incoming: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  const { maxBytes, share, invite } = limits
  const announced = announcedLength(incoming) ?? 0
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const source = decodedBody(incoming)
  const room = share.growTo(announced)
  if (room !== undefined) await room
  invite()
  return collect(incoming, source, limits)
}

function collect(
  incoming: IncomingMessage,
  source: Readable,
  { maxBytes, share }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pace = createPace()
    const announced = source === incoming ? announcedLength(incoming) : undefined
    const bytes = openCollection(announced)
    // What is compressed is longer than it says.
    let room = Math.max(FREE_BODY_BYTES, announcedLength(incoming) ?? 0)
    pace.hold(room)
    const onData = (chunk: Buffer): void => {
      pace.count(chunk.length)
      bytes.add(chunk)
      const size = bytes.size()
      if (size > maxBytes) fail(tooLarge(maxBytes))
      else if (size > room) grow(size)
    }
    /** By more than a piece, so that not every one waits for others. */
    function grow(size: number): void {
      room = Math.min(maxBytes, size + GROWTH_BYTES)
      pace.hold(room)
      const granted = share.growTo(room)
      if (granted === undefined) return
      source.pause()
      pace.rest()
      granted.then(goOn, fail)
    }
    const goOn = (): void => {
      if (isOver) return
      pace.watch(fail)
      source.resume()
    }
    const onEnd = (): void => settle(() => resolve(bytes.take()))
    const onCut = (error?: unknown): void => fail(toBodyError(incoming, error))
    let isOver = false
    function fail(error: unknown): void {
      settle(() => reject(error))
    }
    function settle(then: () => void): void {
      if (isOver) return
      isOver = true
      pace.rest()
      source.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      // Whoever answers decides what becomes of the rest; an error of it is no news any more.
      source.on('error', ignore)
      incoming.on('error', ignore)
      if (source !== incoming) source.destroy()
      then()
    }
    source.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
    if (incoming.destroyed) onCut()
    else if (!incoming.complete) pace.watch(fail)
  })
}

type Collection = { add(chunk: Buffer): void; size(): number; take(): Buffer }

/** Large bodies of known length have one place from the start: pieces put together take two. */
function openCollection(announced = 0): Collection {
  const isLarge = announced > FREE_BODY_BYTES
  const whole = isLarge ? Buffer.allocUnsafeSlow(announced) : undefined
  const chunks: Buffer[] = []
  let size = 0
  return {
    add(chunk) {
      if (whole === undefined) chunks.push(chunk)
      else chunk.copy(whole, size)
      size += chunk.length
    },
    size: () => size,
    take() {
      if (whole !== undefined) return whole.subarray(0, size)
      return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size)
    },
  }
}

function ignore(): void {
  return
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'The request body is too large.', {
    details: { maxBytes },
  })
}
