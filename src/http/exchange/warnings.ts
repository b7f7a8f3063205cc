/**
 * The warnings of a request, as `warnings` at the top level of an answer that is a JSON object.
 * They come first, so that an answer in pieces needs no end of its own. Some answers have a list of
 * texts in `warnings` of their own: there the warnings are the first texts. An answer in pieces
 * with such a list has added them itself (`toWarningTexts`).
 */
import type { FieldWarning } from '../../base/errors.ts'
import type { HttpResponse } from '../response.ts'
import { toWarningTexts } from '../unknown-names.ts'
import { largeJson } from './large-json.ts'

/** Further warnings are left out. */
export const MAX_RESPONSE_WARNINGS = 20

export function withWarnings(
  response: HttpResponse,
  warnings: readonly FieldWarning[],
): HttpResponse {
  const isJson = response.headers['content-type']?.startsWith('application/json') === true
  if (warnings.length === 0 || !isJson || response.hasWarnings) return response
  const told = warnings.slice(0, MAX_RESPONSE_WARNINGS)
  const { body, value } = response
  if (hasOwnList(value)) {
    const merged = { ...value, warnings: [...toWarningTexts(told), ...value.warnings] }
    const { headers, ...rest } = largeJson(response.status, merged)
    return { ...response, ...rest, headers: { ...headers, ...response.headers } }
  }
  const field = `"warnings":${JSON.stringify(told)}`
  if (typeof body === 'string') return { ...response, body: begunWith(field, body) }
  if (body instanceof Uint8Array) {
    // `reservedBytes` is left out: the octets with warnings belong to this answer alone, even if
    // the octets without warnings are shared by all answers.
    const { reservedBytes, ...rest } = response
    return { ...rest, body: octetsBegunWith(field, body) }
  }
  return { ...response, body: piecesBegunWith(field, body) }
}

function hasOwnList(value: unknown): value is { warnings: string[] } {
  return Array.isArray(Object(value).warnings)
}

const OPENING = '{'.charCodeAt(0)
const CLOSING = '}'.charCodeAt(0)

function begunWith(field: string, text: string): string {
  if (!text.startsWith('{')) return text
  return `{${field}${text.startsWith('{}') ? '' : ','}${text.slice(1)}`
}

/** Returns the octets of an object, or of its first piece, with `field` as the first field. */
function octetsBegunWith(field: string, octets: Uint8Array): Uint8Array<ArrayBuffer> {
  if (octets[0] !== OPENING) return new Uint8Array(octets)
  const begin = `{${field}${octets[1] === CLOSING ? '' : ','}`
  return new Uint8Array(Buffer.concat([Buffer.from(begin), octets.subarray(1)]))
}

async function* piecesBegunWith(
  field: string,
  pieces: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let isFirst = true
  for await (const piece of pieces) {
    yield isFirst ? octetsBegunWith(field, piece) : piece
    isFirst = false
  }
}
