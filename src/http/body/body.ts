/**
 * Reads the body of a request from the socket, decodes its Content-Encoding (RFC 9110, section 8.4)
 * and counts the decoded bytes. A body takes a share of the memory for bodies, and is refused when it
 * arrives too slowly. The content type is ignored here, because some clients of this API family do not
 * set it (but see `exchange/admission.ts`).
 */
import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError, type UnknownName } from '../../base/errors.ts'
import { type BodyShare, FREE_BODY_BYTES } from './body-allowance.ts'
import { createBodyPace } from './body-pace.ts'
import { isLargeJson, parseAtOnce, parseJson } from './json.ts'

/** The encodings that a 415 response lists in `Accept-Encoding`. */
const KNOWN_ENCODINGS = 'gzip, deflate, br'

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** The share of memory of a body of unknown length grows in steps of this size. */
export const GROWTH_BYTES = 1024 * 1024

type ReadBody = { value: unknown; sizeBytes: number }

/** `dropped`: keys of the JSON that were left out of `value` (`__proto__`). */
type ReadJson = ReadBody & { dropped: readonly UnknownName[] }

export type BodyLimits = {
  /** The most bytes of the decoded body. */
  maxBytes: number
  share: BodyShare
  /** Asks a client that waits for a 100 to send the body; called before the first read. */
  sendContinue(): void
}

/**
 * @throws AppError PAYLOAD_TOO_LARGE above `maxBytes`; VALIDATION_ERROR 400 for invalid JSON, 422
 *   for JSON that exceeds the limits; UNSUPPORTED_MEDIA_TYPE; REQUEST_TIMEOUT; BAD_REQUEST when the
 *   connection ends before the body; the errors of `share`
 */
export async function readJson(incoming: IncomingMessage, limits: BodyLimits): Promise<ReadJson> {
  const read = readBytes(incoming, limits)
  const bytes = read instanceof Promise ? await read : read
  const sizeBytes = bytes.length
  const dropped: UnknownName[] = []
  const isLarge = isLargeJson(bytes)
  const value = isLarge ? await parseJson(bytes, dropped) : parseAtOnce(bytes, dropped)
  freeBuffer(bytes)
  return { value, sizeBytes, dropped }
}

/**
 * Reads the body of a call that takes none, as `readJson` does. The value is undefined if the body
 * is not JSON or is larger than `FREE_BODY_BYTES`: some clients send such a body, and the call
 * takes effect all the same. No such body waits for memory.
 * @throws AppError BAD_REQUEST when the connection ends before the body; REQUEST_TIMEOUT
 */
export async function readJsonIfAny(
  incoming: IncomingMessage,
  limits: BodyLimits,
): Promise<ReadJson> {
  try {
    return await readJson(incoming, { ...limits, maxBytes: FREE_BODY_BYTES })
  } catch (error) {
    if (!isOfOtherKind(error)) throw error
    return { value: undefined, sizeBytes: 0, dropped: [] }
  }
}

/**
 * Frees the buffer of a large body at once, because the garbage collector does not see the buffer's
 * size.
 */
function freeBuffer({ buffer, length }: Buffer): void {
  const ownsBuffer = length > FREE_BODY_BYTES && buffer.byteLength === length
  if (ownsBuffer && buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/**
 * Returns the fields of an HTML form of any content type. A body that is not a form, or is larger than
 * `maxBytes`, has no fields, because a one-click unsubscribe must work with any body (RFC 8058).
 * @throws AppError BAD_REQUEST when the connection ends before the body; REQUEST_TIMEOUT
 */
export async function readForm(incoming: IncomingMessage, limits: BodyLimits): Promise<ReadBody> {
  try {
    const bytes = await readBytes(incoming, limits)
    const value = Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
    return { value, sizeBytes: bytes.length }
  } catch (error) {
    if (isOfOtherKind(error)) return { value: {}, sizeBytes: 0 }
    throw error
  }
}

/** Whether the error says that the body is of another kind than the call takes, or too large. */
function isOfOtherKind(error: unknown): boolean {
  return error instanceof AppError && OTHER_KINDS.has(error.code)
}

const OTHER_KINDS: ReadonlySet<string> = new Set([
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'VALIDATION_ERROR',
])

/** Returns the Content-Length of a request; undefined without that header. */
export function announcedLength({ headers }: IncomingMessage): number | undefined {
  const length = headers['content-length']
  return length === undefined ? undefined : Number(length)
}

/**
 * Whether the request has no body. Its Content-Type does not tell: some clients send one without a
 * body.
 */
export function isBodyless(incoming: IncomingMessage): boolean {
  const isChunked = incoming.headers['transfer-encoding'] !== undefined
  return !isChunked && (announcedLength(incoming) ?? 0) === 0
}

/**
 * Reads the body. Most bodies have arrived together with the head of their request, and are
 * returned without a promise.
 */
function readBytes(incoming: IncomingMessage, limits: BodyLimits): Buffer | Promise<Buffer> {
  const { maxBytes, share } = limits
  const announced = announcedLength(incoming) ?? 0
  if (announced > maxBytes) throw tooLarge(maxBytes)
  const source = decodedBody(incoming)
  const growth = share.growTo(announced)
  if (growth === undefined) return takeBytes(incoming, source, limits)
  return growth.then(() => takeBytes(incoming, source, limits))
}

function takeBytes(
  incoming: IncomingMessage,
  source: Readable,
  limits: BodyLimits,
): Buffer | Promise<Buffer> {
  const { maxBytes, sendContinue } = limits
  sendContinue()
  if (source === incoming && isShortAndThere(incoming)) {
    const bytes: Buffer = incoming.read() ?? EMPTY_BODY
    if (bytes.length > maxBytes) throw tooLarge(maxBytes)
    return bytes
  }
  return collect(incoming, source, limits)
}

const EMPTY_BODY = Buffer.alloc(0)

function isShortAndThere({ complete, destroyed, readableLength }: IncomingMessage): boolean {
  return complete && !destroyed && readableLength <= FREE_BODY_BYTES
}

function collect(
  incoming: IncomingMessage,
  source: Readable,
  { maxBytes, share }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pace = createBodyPace()
    const announced = source === incoming ? announcedLength(incoming) : undefined
    const bytes = openCollection(announced)
    // More memory than this may be needed: a compressed body may be longer than its Content-Length
    // once it is decoded.
    let reservedBytes = Math.max(FREE_BODY_BYTES, announcedLength(incoming) ?? 0)
    pace.reserve(reservedBytes)
    const onData = (chunk: Buffer): void => {
      pace.count(chunk.length)
      bytes.add(chunk)
      const size = bytes.size()
      if (size > maxBytes) fail(tooLarge(maxBytes))
      else if (size > reservedBytes) grow(size)
    }
    /** Grows the share by more than the piece, so that few pieces wait for memory. */
    function grow(size: number): void {
      reservedBytes = Math.min(maxBytes, size + GROWTH_BYTES)
      pace.reserve(reservedBytes)
      const growth = share.growTo(reservedBytes)
      if (growth === undefined) return
      source.pause()
      pace.pause()
      growth.then(goOn, fail)
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
      pace.pause()
      source.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      // The response decides how the rest is read; later errors of the request do not matter.
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

/**
 * Collects the pieces of a body. A large body of known length gets its whole buffer at the start,
 * because joining the pieces at the end would take twice the memory.
 */
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

/**
 * Returns the decoded body as a stream, which decodes no faster than it is read. The stream fails
 * when the request is cut off and when decoding fails. Destroying it leaves the unread rest in
 * `incoming`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown encoding
 */
export function decodedBody(incoming: IncomingMessage): Readable {
  const encoding = encodingOf(incoming)
  if (encoding === 'identity') return incoming
  const open = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (open === undefined) throw unknownEncoding()
  const decoder = open()
  const onCut = (): void => {
    if (!incoming.readableEnded) decoder.destroy(new Error('the request was cut off'))
  }
  incoming.once('error', onCut).once('close', onCut)
  decoder.once('close', () => incoming.off('close', onCut).unpipe(decoder))
  return incoming.pipe(decoder)
}

/** The error for clients when the stream of `decodedBody` fails. */
export function toBodyError(incoming: IncomingMessage, error?: unknown): AppError {
  if (!isEncoded(incoming) || isCut(incoming)) return cutOff(error)
  return new AppError('VALIDATION_ERROR', 'The body does not match its Content-Encoding.', {
    status: 400,
    cause: error,
    suggestion:
      'Compress the whole body with the encoding that Content-Encoding names, or leave that header out.',
  })
}

function isCut(incoming: IncomingMessage): boolean {
  return incoming.destroyed && !incoming.complete
}

function isEncoded(incoming: IncomingMessage): boolean {
  return encodingOf(incoming) !== 'identity'
}

function encodingOf({ headers }: IncomingMessage): string {
  const encoding = (headers['content-encoding'] ?? '').trim().toLowerCase()
  return encoding === '' ? 'identity' : encoding
}

function cutOff(cause?: unknown): AppError {
  return new AppError('BAD_REQUEST', 'The request was cut off.', { cause })
}

function unknownEncoding(): AppError {
  return new AppError('UNSUPPORTED_MEDIA_TYPE', 'This Content-Encoding is not supported.', {
    details: { accepted: KNOWN_ENCODINGS.split(', ') },
    suggestion: `Send the body uncompressed, or with one of: ${KNOWN_ENCODINGS}.`,
  })
}
