/** HTTP responses before the headers that all of them share. */

/**
 * The next piece of a body in pieces is asked for when the client has taken the last one; a client
 * that has gone is asked for no more.
 */
export type HttpResponse = {
  status: number
  body: string | Uint8Array<ArrayBuffer> | AsyncIterable<Uint8Array>
  headers: Readonly<Record<string, string>>
}

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' }

export function json(status: number, value: unknown): HttpResponse {
  return { status, body: JSON.stringify(value), headers: JSON_HEADERS }
}

export function noContent(): HttpResponse {
  return { status: 204, body: '', headers: {} }
}
