/** Texts that are no part of a message, such as the body of a webhook, are rendered in a composing thread. */
import type { TextsSource } from '../protocol.ts'
import { createSingleTasks, type SingleTasksDeps } from './single-tasks.ts'

type Texts = {
  /**
   * In the order of the templates, or 'too heavy' if all of them together take too much time or memory.
   * Rejects while shutting down.
   */
  render(source: TextsSource): Promise<RenderedTexts>
  stop(): Promise<void>
}

export type RenderedTexts = readonly string[] | 'too heavy'

export function createTexts(deps: SingleTasksDeps): Texts {
  const tasks = createSingleTasks<TextsSource, readonly string[] | null>(deps, {
    ask: (task, source) => ({ type: 'render', task, source }),
    read(message) {
      if (message.type === 'not rendered') throw new Error(message.error)
      return message.type === 'rendered' ? { result: message.texts } : undefined
    },
  })
  return {
    async render(source) {
      const rendered = await tasks.run(source)
      return rendered?.result ?? 'too heavy'
    },
    stop: tasks.stop,
  }
}
