/**
 * A request's body, read from the socket itself: counted as it comes, whatever Content-Length says.
 * JSON is free of what JSON can carry but nothing of ours can handle: nesting without end and keys
 * named `__proto__`. The content type is not looked at: clients of this API family do not all set it.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { AppError, invalidField } from '../errors.ts'

export type ReadBody = { value: unknown; sizeBytes: number }

/** Deeper than any data that makes sense, far from where recursion ends. */
export const MAX_JSON_DEPTH = 100

/**
 * @throws AppError PAYLOAD_TOO_LARGE above `maxBytes`; VALIDATION_ERROR 400 for what is not JSON,
 * 422 for what is nested too deeply; BAD_REQUEST when the connection ends before the body does
 */
export async function readJson(incoming: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  const bytes = await readBytes(incoming, maxBytes)
  const value = parseJson(bytes)
  if (!isTame(value, 1)) {
    throw invalidField('', 'too_big', `The JSON is nested more than ${MAX_JSON_DEPTH} levels deep`)
  }
  return { value, sizeBytes: bytes.length }
}

/**
 * The fields of a form, whatever its content type says; of a body that is no such form, or larger
 * than `maxBytes`, none: what a form's caller wants is in its path, and is done anyway (RFC 8058).
 * @throws AppError BAD_REQUEST when the connection ends before the body does
 */
export async function readForm(incoming: IncomingMessage, maxBytes: number): Promise<ReadBody> {
  try {
    const bytes = await readBytes(incoming, maxBytes)
    const value = Object.fromEntries(new URLSearchParams(bytes.toString('utf8')))
    return { value, sizeBytes: bytes.length }
  } catch (error) {
    if (error instanceof AppError && error.code === 'PAYLOAD_TOO_LARGE') {
      return { value: {}, sizeBytes: maxBytes }
    }
    throw error
  }
}

function readBytes(incoming: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (Number(incoming.headers['content-length'] ?? 0) > maxBytes) {
    return Promise.reject(tooLarge(maxBytes))
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let sizeBytes = 0
    const onData = (chunk: Buffer): void => {
      sizeBytes += chunk.length
      chunks.push(chunk)
      if (sizeBytes > maxBytes) settle(() => reject(tooLarge(maxBytes)))
    }
    const onEnd = (): void => {
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)))
    }
    const onCut = (): void => settle(() => reject(cutOff()))
    function settle(then: () => void): void {
      incoming.off('data', onData).off('end', onEnd).off('error', onCut).off('close', onCut)
      // Whoever answers decides what becomes of the rest; an error of it is no news any more.
      incoming.on('error', ignore)
      then()
    }
    incoming.on('data', onData).on('end', onEnd).on('error', onCut).on('close', onCut)
    if (incoming.destroyed) onCut()
  })
}

function ignore(): void {
  return
}

function parseJson(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) throw malformed('The body is not valid UTF-8.')
  const text = bytes.toString('utf8')
  try {
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw malformed(text === '' ? 'The body is empty.' : 'The body is not valid JSON.', error)
  }
}

/** Removes keys that would change an object's prototype when copied; false when nested too deep. */
function isTame(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true
  if (depth > MAX_JSON_DEPTH) return false
  if (Array.isArray(value)) return value.every((item) => isTame(item, depth + 1))
  if (Object.hasOwn(value, '__proto__')) Reflect.deleteProperty(value, '__proto__')
  return Object.values(value).every((item) => isTame(item, depth + 1))
}

function malformed(text: string, cause?: unknown): AppError {
  return new AppError('VALIDATION_ERROR', text, {
    status: 400,
    cause,
    suggestion: 'Send one JSON object, as UTF-8, with "Content-Type: application/json".',
  })
}

export function tooLarge(maxBytes: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', 'The request body is too large.', {
    details: { maxBytes },
  })
}

export function cutOff(cause?: unknown): AppError {
  return new AppError('BAD_REQUEST', 'The request was cut off.', { cause })
}
