/** Compressed request bodies (RFC 9110, section 8.4). */
import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError } from '../../errors.ts'

/** Named in `Accept-Encoding` of a refusal. */
const KNOWN_ENCODINGS = 'gzip, deflate, br'

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * The decoded body, produced no faster than it is read. The stream fails when the request is cut off
 * and when decoding fails. Destroying it leaves the unread rest in `incoming`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for an unknown encoding
 */
export function decodedBody(incoming: IncomingMessage): Readable {
  const encoding = encodingOf(incoming)
  if (encoding === 'identity') return incoming
  const open = Object.hasOwn(decoders, encoding) ? decoders[encoding] : undefined
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
