/**
 * Loaded into each thread of a server before its own code (`--import`): a worker thread that works on a
 * text with the marker takes memory until it has reached the limit of its heap.
 */
import { isMainThread } from 'node:worker_threads'

export const MARKER = 'eats-all-memory'

const { indexOf } = String.prototype

if (!isMainThread) {
  String.prototype.indexOf = function (...args) {
    if (indexOf.call(this, MARKER) !== -1) eat()
    return indexOf.apply(this, args)
  }
}

function eat(): never {
  const all: unknown[] = []
  // As large as arrays may be: the limit is reached in a moment.
  for (;;) all.push(new Array(30_000_000))
}
