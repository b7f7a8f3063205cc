/**
 * Counts the octets of the heads of one exchange, interim ones (RFC 9110, section 15.2) and the final one,
 * in whatever pieces they arrive. Node tells neither the size of a head nor where it ended in a piece.
 */

/** What a status line begins with, up to the class of the status: `HTTP/1.1 1`. */
const CLASS_AT = 9
const LF = 10
const CR = 13
const ONE = 49

export type HeadBytes = {
  /** Returns the octets up to the end of the final head, of all pieces so far. */
  add(piece: Uint8Array): number
}

export function countHeadBytes(): HeadBytes {
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
