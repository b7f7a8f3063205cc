/**
 * What a server may send around the body of its response. A server that sends interim responses
 * (RFC 9110, section 15.2), chunk extensions or trailers without an end would otherwise cost time
 * and memory until the time of the hop is over.
 */
import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { Ended } from './failure.ts'

const MAX_INTERIM_RESPONSES = 10
/** Octets before the head of the response is complete; Node bounds each single head to 16 KB. */
const MAX_HEAD_BYTES = 64 * 1024
/** A chunk of one octet takes six. */
const MAX_FRAMING = 8

export type PeerLimits = {
  /** Must be called with the head of the response. */
  onResponse(): void
  /** Must be called before the connection serves another request. */
  stop(): void
}

/** Calls `end` once for each octet count or interim response beyond the limits. */
export function limitPeer(
  sent: ClientRequest,
  { maxBodyBytes }: { maxBodyBytes: number },
  end: (reason: Ended) => void,
): PeerLimits {
  let maxBytes = MAX_HEAD_BYTES
  let interim = 0
  let sizeBytes = 0
  let socket: Socket | undefined
  const count = (chunk: Buffer) => {
    sizeBytes += chunk.length
    if (sizeBytes <= maxBytes) return
    end(new Ended('flood', 'the server sends too much beside the body of its response'))
  }
  sent.on('information', () => {
    interim += 1
    if (interim <= MAX_INTERIM_RESPONSES) return
    end(new Ended('flood', `the server sends more than ${MAX_INTERIM_RESPONSES} interim responses`))
  })
  sent.on('socket', (own) => {
    socket = own.on('data', count)
  })
  return {
    onResponse() {
      // The piece that completes the head was not bounded by it.
      maxBytes = 2 * MAX_HEAD_BYTES + MAX_FRAMING * maxBodyBytes
    },
    stop() {
      socket?.off('data', count)
    },
  }
}
