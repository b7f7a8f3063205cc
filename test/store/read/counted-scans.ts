/** Threads of a store that note the scans that they are asked for. */
import type { createThread } from '../../../src/store/read/thread.ts'

type Threads = typeof createThread

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
