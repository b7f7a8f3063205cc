/**
 * On the main thread: asks a delivery thread how far a task has come. A thread that is busy with a
 * long message, or that ends, answers nothing; who asks does not wait long.
 */

import type { CurrentStep } from '../attempt.ts'
import type { FromThread } from '../protocol.ts'
import type { DeliveryThread } from './threads.ts'

export type ProgressQueries = {
  /** Null when the thread does not know the task (any more); undefined when it does not answer. */
  ask(thread: DeliveryThread, task: number): Promise<CurrentStep | null | undefined>
  answered(message: Extract<FromThread, { type: 'progress' }>): void
}

const LIMIT_MS = 500

export function createProgressQueries(): ProgressQueries {
  const open = new Map<number, (answer: CurrentStep | null | undefined) => void>()
  let last = 0
  return {
    ask(thread, task) {
      const question = ++last
      return new Promise((resolve) => {
        const settle = (answer: CurrentStep | null | undefined) => {
          clearTimeout(timer)
          open.delete(question)
          resolve(answer)
        }
        const timer = setTimeout(settle, LIMIT_MS, undefined)
        open.set(question, settle)
        thread.post({ type: 'progress', question, task })
      })
    },
    answered: ({ question, current }) => open.get(question)?.(current),
  }
}
