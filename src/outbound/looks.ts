/**
 * On the main thread: messages rendered to be looked at, by the same threads and with the same
 * guard as those that are sent. A look whose thread had to be ended is done again with
 * placeholders only.
 */
import type { RenderedMessage, RenderSource } from '../mail/message.ts'
import type { FromThread } from './protocol.ts'
import type { DeliveryThread } from './threads.ts'

export type LooksDeps = {
  nextTask(): number
  threadFor(): DeliveryThread | undefined
}

export type Looks = {
  /** Rejects when rendering fails or the threads end. */
  look(sources: readonly RenderSource[]): Promise<readonly RenderedMessage[]>
  received(message: Extract<FromThread, { type: 'looked' | 'look failed' }>): void
  ended(thread: DeliveryThread, culprit: number): void
  stop(): void
}

type Look = {
  sources: readonly RenderSource[]
  thread: DeliveryThread
  hasEnded: boolean
  settled: PromiseWithResolvers<readonly RenderedMessage[]>
}

export function createLooks({ nextTask, threadFor }: LooksDeps): Looks {
  const open = new Map<number, Look>()
  let isStopped = false

  function begin(look: Omit<Look, 'thread'>): void {
    const thread = isStopped ? undefined : threadFor()
    if (thread === undefined) {
      look.settled.reject(new Error('no delivery thread is there to render the message'))
      return
    }
    const task = nextTask()
    open.set(task, { ...look, thread })
    thread.post({ type: 'look', task, sources: look.sources })
  }

  function again(look: Look, isCulprit: boolean): void {
    if (look.hasEnded) {
      look.settled.reject(new Error('the message could not be rendered'))
      return
    }
    const plain = look.sources.map((source) => ({ ...source, isPlain: true }))
    begin({ ...look, hasEnded: isCulprit, sources: isCulprit ? plain : look.sources })
  }

  return {
    look(sources) {
      if (sources.length === 0) return Promise.resolve([])
      const settled = Promise.withResolvers<readonly RenderedMessage[]>()
      begin({ sources, hasEnded: false, settled })
      return settled.promise
    },
    received(message) {
      const look = open.get(message.task)
      open.delete(message.task)
      if (message.type === 'looked') look?.settled.resolve(message.messages)
      else look?.settled.reject(new Error(message.error))
    },
    ended(thread, culprit) {
      for (const [task, look] of open) {
        if (look.thread !== thread) continue
        open.delete(task)
        again(look, task === culprit)
      }
    },
    stop() {
      isStopped = true
      for (const { settled } of open.values())
        settled.reject(new Error('the server is shutting down'))
      open.clear()
    },
  }
}
