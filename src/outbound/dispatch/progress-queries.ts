/**
 * On the main thread: asks a delivery thread for the current step of a task. A thread that is busy
 * with a long message, or that ends, does not answer; the query then times out.
 */
import type { CurrentStep } from '../attempt.ts'
import type { DeliveryThread, FromThread } from '../protocol.ts'

type ProgressQueries = {
  /**
   * Resolves to null if the thread does not have the task; undefined if the thread does not answer.
   */
  ask(thread: DeliveryThread, task: number): Promise<CurrentStep | null | undefined>
  answered(message: Extract<FromThread, { type: 'progress' }>): void
}

const TIMEOUT_MS = 500

export function createProgressQueries(): ProgressQueries {
  const open = new Map<number, (answer: CurrentStep | null | undefined) => void>()
  let last = 0
  return {
    ask(thread, task) {
      const query = ++last
      return new Promise((resolve) => {
        const settle = (answer: CurrentStep | null | undefined) => {
          clearTimeout(timer)
          open.delete(query)
          resolve(answer)
        }
        const timer = setTimeout(settle, TIMEOUT_MS, undefined)
        open.set(query, settle)
        thread.postMessage({ type: 'progress', query, task })
      })
    },
    answered: ({ query, current }) => open.get(query)?.(current),
  }
}
