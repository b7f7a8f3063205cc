/**
 * The limits of a hop: the caller's signal, its time, which begins before the name is resolved, and the octets
 * beside the body of the response.
 */

import type { ClientRequest } from 'node:http'
import type { Socket } from 'node:net'
import { HopEnded } from './failure.ts'

type Watcher = (reason: HopEnded) => void

export type HopEnd = {
  /**
   * Calls `watcher` when the hop ends, or at once if it has ended. A new watcher replaces the one
   * before. Returns a function that ends the watch.
   */
  watch(watcher: Watcher): () => void
  /** Resolves as `work` does. @throws Ended if the end comes first */
  before<T>(work: Promise<T>): Promise<T>
  /** Must be called when the hop is over. */
  stop(): void
}

const MAX_INTERIM_RESPONSES = 10
/** Octets until the head of the response is complete; Node bounds each single head to 16 KB, without white space. */
const MAX_HEAD_BYTES = 64 * 1024
/** Octets of framing for each octet of the body: a chunk of one octet takes six. */
const MAX_FRAMING = 8

type PeerLimits = {
  /** Must be called with the head of the response. */
  onResponse(): void
  /** Must be called before the connection serves another request. */
  stop(): void
}

/** The index of the first digit of the status in a status line, such as `HTTP/1.1 100`. */
const CLASS_AT = 9
const LF = 10
const CR = 13
const ONE = 49

type HeadBytes = {
  /** Adds a piece. Returns how many octets the pieces so far have up to the end of the final head. */
  add(piece: Uint8Array): number
}

export function startHopEnd(timeoutMs: number, caller: AbortSignal | undefined): HopEnd {
  let reason: HopEnded | undefined
  let current: Watcher | undefined
  const end = (why: HopEnded) => {
    if (reason !== undefined) return
    reason = why
    current?.(why)
  }
  const abort = () => end(new HopEnded('aborted', 'the request was aborted'))
  const late = () => end(new HopEnded('timeout', 'the time for the request is over'))
  const timer = setTimeout(late, timeoutMs)
  caller?.addEventListener('abort', abort)
  if (caller?.aborted) abort()

  function watch(watcher: Watcher): () => void {
    current = watcher
    if (reason !== undefined) watcher(reason)
    return () => {
      if (current === watcher) current = undefined
    }
  }

  return {
    watch,
    before: (work) =>
      new Promise((resolve, reject) => {
        watch(reject)
        work.then(resolve, reject)
      }),
    stop() {
      clearTimeout(timer)
      caller?.removeEventListener('abort', abort)
    },
  }
}

/**
 * Limits what a server may send around the body of its response. A server that sends interim responses
 * (RFC 9110, section 15.2), chunk extensions or trailers without an end would otherwise cost time
 * and memory until the time of the hop is over. Calls `end` for each piece or interim response beyond the
 * limits. A response that such a piece completes does not count.
 */
export function limitPeer(
  sent: ClientRequest,
  { maxBodyBytes }: { maxBodyBytes: number },
  end: (reason: HopEnded) => void,
): PeerLimits {
  let maxBytes = MAX_HEAD_BYTES
  let interim = 0
  let sizeBytes = 0
  let socket: Socket | undefined
  const heads = countHeadBytes()
  const flood = () =>
    end(new HopEnded('flood', 'the server sends too much beside the body of its response'))
  /** Runs before the parser reads the piece, because the head may end in this piece. */
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
    end(
      new HopEnded(
        'flood',
        `the server sends more than ${MAX_INTERIM_RESPONSES} interim responses`,
      ),
    )
  })
  sent.on('socket', (own) => {
    socket = own.prependListener('data', countHeads).on('data', count)
  })
  return {
    onResponse() {
      // The last piece may contain octets after the head.
      maxBytes = 2 * MAX_HEAD_BYTES + MAX_FRAMING * maxBodyBytes
    },
    stop() {
      socket?.off('data', countHeads).off('data', count)
    },
  }
}

/**
 * Counts the octets of the heads of one exchange, interim ones (RFC 9110, section 15.2) and the final one,
 * in any pieces. Node tells neither the size of a head nor its end within a piece.
 */
function countHeadBytes(): HeadBytes {
  let counted = 0
  let isOver = false
  /** Octets of this head, without empty lines before it. */
  let inHead = 0
  let inLine = 0
  let isInterim = false

  function step(octet: number): void {
    if (octet === CR) return
    if (octet === LF) {
      if (inLine === 0 && inHead > 0) {
        isOver = !isInterim
        inHead = 0
      }
      inLine = 0
      return
    }
    if (inHead === CLASS_AT) isInterim = octet === ONE
    inHead += 1
    inLine += 1
  }

  return {
    add(piece) {
      for (let at = 0; at < piece.length && !isOver; at += 1) {
        counted += 1
        step(piece[at] ?? 0)
      }
      return counted
    },
  }
}
