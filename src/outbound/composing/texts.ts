/** Texts that are no part of a message, such as the body of a webhook, are rendered in a composing thread. */
import type { TextsSource } from '../protocol.ts'
import type { ThreadTasks } from './thread-tasks.ts'

export type RenderedTexts = readonly string[] | 'too heavy'

/**
 * In the order of the templates, or 'too heavy' if all of them together take too much time or memory.
 * Rejects as `ThreadTasks.run`.
 */
export async function renderTextsInThread(
  tasks: Pick<ThreadTasks, 'run'>,
  source: TextsSource,
): Promise<RenderedTexts> {
  const rendered = await tasks.run<readonly string[] | null>({
    ask: (task) => ({ type: 'render', task, source }),
    read(message) {
      if (message.type === 'not rendered') throw new Error(message.error)
      return message.type === 'rendered' ? { result: message.texts } : undefined
    },
  })
  return rendered?.result ?? 'too heavy'
}
