/** Bodies that their senders have compressed (RFC 9110, section 8.4). */
import type { IncomingMessage } from 'node:http'
import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { AppError } from '../../errors.ts'

/** What `Accept-Encoding` of a refusal says. */
const KNOWN_ENCODINGS = 'gzip, deflate, br'

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * The body as it was before it was compressed, no faster than it is read. It ends with an error
 * where the request does, and where it cannot be decoded. What has not been read when it is
 * destroyed is left in `incoming`.
 * @throws AppError UNSUPPORTED_MEDIA_TYPE for an encoding that is not known here
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

/** What a reader of `decodedBody` tells of an error that came instead of more. */
export function toBodyError(incoming: IncomingMessage, error?: unknown): AppError {
  if (!isEncoded(incoming) || isCut(incoming)) return cutOff(error)
  return new AppError('VALIDATION_ERROR', 'The body is not what its Content-Encoding says.', {
    status: 400,
    cause: error,
    suggestion: 'Compress the whole body as Content-Encoding says, or leave that header out.',
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
  return new AppError('UNSUPPORTED_MEDIA_TYPE', 'This Content-Encoding is not known here.', {
    details: { accepted: KNOWN_ENCODINGS.split(', ') },
    suggestion: `Send the body as it is, or with one of: ${KNOWN_ENCODINGS}.`,
  })
}
