/** Threads of a store that note the scans that they are asked for. */
import type { TestContext } from 'node:test'
import type { createThread } from '../../../src/store/read/thread.ts'

type Threads = typeof createThread

/** Returns a function that puts the monotonic clock ahead. */
export function moveClock({ mock }: TestContext): (ms: number) => void {
  const real = performance.now.bind(performance)
  let aheadMs = 0
  mock.method(performance, 'now', () => real() + aheadMs)
  return (ms) => {
    aheadMs += ms
  }
}

export function countScans(): { scans: string[]; counting(threads: Threads): Threads } {
  const scans: string[] = []
  return {
    scans,
    counting: (threads) => (settings, start, counters) => {
      const thread = threads(settings, start, counters)
      return {
        ...thread,
        ask(request) {
          if (request.kind === 'query') scans.push(request.text)
          return thread.ask(request)
        },
      }
    },
  }
}
