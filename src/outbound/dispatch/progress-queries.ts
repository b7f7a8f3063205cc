/**
 * On the main thread: asks a delivery thread for the current step of a delivery. A thread that is busy
 * with a long message, or that ends, does not reply; the query then times out.
 */
import type { CurrentStep } from '../attempt.ts'
import type { Delivery } from '../delivery.ts'
import type { DeliveryThread, FromThread } from '../protocol.ts'
import type { DeliveryProgress } from '../sites/site-status.ts'

type ProgressQueries = {
  /** Resolves to undefined if the delivery's thread no longer has it. */
  progressOf(delivery: Delivery): Promise<DeliveryProgress | undefined>
  received(message: Extract<FromThread, { type: 'progress' }>): void
}

/** Null: the thread does not have the task; undefined: the thread does not reply. */
type ThreadStep = CurrentStep | null | undefined

const TIMEOUT_MS = 500

export function createProgressQueries(): ProgressQueries {
  const open = new Map<number, (progress: ThreadStep) => void>()
  let last = 0

  function query(thread: DeliveryThread, task: number): Promise<ThreadStep> {
    const number = ++last
    return new Promise((resolve) => {
      const settle = (progress: ThreadStep) => {
        clearTimeout(timer)
        open.delete(number)
        resolve(progress)
      }
      const timer = setTimeout(settle, TIMEOUT_MS, undefined)
      open.set(number, settle)
      thread.postMessage({ type: 'progress', query: number, task })
    })
  }

  return {
    async progressOf({ thread, task, since, pool }) {
      const waiting = { site: pool.site, step: 'waiting', since, peer: null } as const
      if (thread === null) return waiting
      const current = await query(thread, task)
      if (current === null) return undefined
      // A thread that does not reply is composing another message.
      if (current === undefined || current.step === 'waiting') return waiting
      return { ...current, site: pool.site }
    },
    received: ({ query, current }) => open.get(query)?.(current),
  }
}
