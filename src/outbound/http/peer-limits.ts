/**
 * What a server may send around the body of its response. A server that sends interim responses
 * (RFC 9110, section 15.2), chunk extensions or trailers without an end would otherwise cost time
 * and memory until the time of the hop is over.
 */
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { Ended } from './failure.ts'
import { countHeadBytes } from './head-bytes.ts'

const MAX_INTERIM_RESPONSES = 10
/** Octets until the head of the response is complete; Node bounds each single head to 16 KB, without white space. */
const MAX_HEAD_BYTES = 64 * 1024
/** A chunk of one octet takes six. */
const MAX_FRAMING = 8

export type PeerLimits = {
  /** Must be called with the head of the response. */
  onResponse(): void
  /** Must be called before the connection serves another request. */
  stop(): void
}

/** Calls `end` for each piece or interim response beyond the limits. What the piece completes counts for nothing then. */
export function limitPeer(
  sent: ClientRequest,
  { maxBodyBytes }: { maxBodyBytes: number },
  end: (reason: Ended) => void,
): PeerLimits {
  let maxBytes = MAX_HEAD_BYTES
  let interim = 0
  let sizeBytes = 0
  let socket: Socket | undefined
  const heads = countHeadBytes()
  const flood = () =>
    end(new Ended('flood', 'the server sends too much beside the body of its response'))
  /** Before the parser reads the piece, in which the head may end. */
  const countHeads = (piece: Buffer) => {
    if (heads.add(piece) > MAX_HEAD_BYTES) flood()
  }
  const count = (piece: Buffer) => {
    sizeBytes += piece.length
    if (sizeBytes > maxBytes) flood()
  }
  sent.on('information', () => {
    interim += 1
    if (interim <= MAX_INTERIM_RESPONSES) return
    end(new Ended('flood', `the server sends more than ${MAX_INTERIM_RESPONSES} interim responses`))
  })
  sent.on('socket', (own) => {
    socket = own.prependListener('data', countHeads).on('data', count)
  })
  return {
    onResponse() {
      // What the last piece has after the head is not of the head.
      maxBytes = 2 * MAX_HEAD_BYTES + MAX_FRAMING * maxBodyBytes
    },
    stop() {
      socket?.off('data', countHeads).off('data', count)
    },
  }
}
