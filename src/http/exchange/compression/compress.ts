/**
 * Compresses a response, if that is worth it. Bodies that all responses share are compressed once and kept;
 * short ones at once, and bodies of several pieces while they are sent.
 */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type HttpResponse, piecesOfOctets, WHOLE_BYTES } from '../../response.ts'
import {
  BROTLI_OPTIONS,
  COMPRESSION_BYTES,
  compressPieces,
  GZIP_OPTIONS,
} from './compress-pieces.ts'
import type { ContentCoding } from './compressed-routes.ts'

export type Compressor = {
  /** `coding`: undefined for a client that accepts none. */
  compress(response: HttpResponse, coding: ContentCoding | undefined): Promise<HttpResponse>
  /** The same response with the header fields of a compressed one, and its body as it is. */
  describe(response: HttpResponse, coding: ContentCoding | undefined): HttpResponse
}

/** Bodies up to this size are not compressed: the headers are most of such an answer. */
const MIN_BYTES = 1024
/** The options for shared bodies, which are compressed once. */
const SHARED_OPTIONS = {
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } },
  gzip: { level: 9 },
} as const

type Octets = Uint8Array<ArrayBuffer>

export function createCompressor(): Compressor {
  const shared = {
    br: new WeakMap<Octets, Promise<Octets>>(),
    gzip: new WeakMap<Octets, Promise<Octets>>(),
  }

  function compressShared(body: Octets, coding: ContentCoding): Promise<Octets> {
    const known = shared[coding].get(body)
    if (known !== undefined) return known
    const made = pack(body, coding, SHARED_OPTIONS[coding])
    shared[coding].set(body, made)
    made.catch(() => shared[coding].delete(body))
    return made
  }

  async function compressBody(
    response: HttpResponse,
    coding: ContentCoding,
  ): Promise<HttpResponse> {
    const { body, reservedBytes } = response
    if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
      const reserved =
        reservedBytes === undefined ? {} : { reservedBytes: reservedBytes + COMPRESSION_BYTES }
      return { ...response, ...reserved, body: compressPieces(body, coding) }
    }
    if (reservedBytes === 0 && body instanceof Uint8Array) {
      return { ...response, body: await compressShared(body, coding) }
    }
    const size = Buffer.byteLength(body)
    if (size <= WHOLE_BYTES) {
      const options = coding === 'br' ? BROTLI_OPTIONS : GZIP_OPTIONS
      return { ...response, body: await pack(body, coding, options) }
    }
    const isText = typeof body === 'string'
    const octets = isText ? Buffer.from(body) : body
    const pieces = compressPieces(piecesOfOctets(octets), coding)
    const copied = isText ? size : 0
    const reserved = (reservedBytes ?? size) + copied + COMPRESSION_BYTES
    return { ...response, reservedBytes: reserved, body: pieces }
  }

  return {
    describe,
    async compress(response, coding) {
      const described = describe(response, coding)
      if (coding === undefined || described.headers['content-encoding'] === undefined) {
        return described
      }
      return compressBody(described, coding)
    },
  }
}

/**
 * Adds the header fields of a compressed response. An ETag names one representation, so a response
 * with an ETag stays as it is.
 */
function describe(response: HttpResponse, coding: ContentCoding | undefined): HttpResponse {
  const { status, body } = response
  const { vary, etag } = response.headers
  if (status !== 200 || etag !== undefined) return response
  const varying = vary === undefined ? 'Accept-Encoding' : `${vary}, Accept-Encoding`
  const headers = { ...response.headers, vary: varying }
  const isWhole = typeof body === 'string' || body instanceof Uint8Array
  const isShort = isWhole && Buffer.byteLength(body) <= MIN_BYTES
  if (coding === undefined || isShort) return { ...response, headers }
  return { ...response, headers: { ...headers, 'content-encoding': coding } }
}

async function pack(
  body: string | Octets,
  coding: ContentCoding,
  options: object,
): Promise<Octets> {
  const packed = await (coding === 'br'
    ? promisify(brotliCompress)(body, options)
    : promisify(gzip)(body, options))
  return new Uint8Array(packed)
}
