/**
 * Loaded into each thread of a server before its own code (`--import`): a worker thread that works on a
 * text with the marker takes memory until it has reached the limit of its heap.
 */
import { isMainThread } from 'node:worker_threads'

export const MARKER = 'eats-all-memory'

const PIECE_BYTES = 4_000_000

const { indexOf } = String.prototype

if (!isMainThread) {
  String.prototype.indexOf = function (...args) {
    if (indexOf.call(this, MARKER) !== -1) eat()
    return indexOf.apply(this, args)
  }
}

/** In small pieces: V8 ends the whole process if one piece exceeds what it lets a thread overdraw. */
function eat(): never {
  const all: string[] = []
  for (;;) {
    const text = String(all.length % 10).repeat(PIECE_BYTES)
    // Until it is read, the text is not written out.
    text.charCodeAt(0)
    all.push(text)
  }
}
