/** Markdown of clients is turned to HTML in a composing thread: a hostile text may take two seconds. */
import type { ThreadTasks } from './thread-tasks.ts'

/** The HTML; null if the text is too complex. Rejects as `ThreadTasks.run`. */
export async function convertInThread(
  tasks: Pick<ThreadTasks, 'run'>,
  source: string,
): Promise<string | null> {
  const converted = await tasks.run<string | null>({
    ask: (task) => ({ type: 'convert', task, source }),
    read(message) {
      if (message.type === 'not converted') throw new Error(message.error)
      return message.type === 'converted' ? { result: message.html } : undefined
    },
  })
  return converted?.result ?? null
}
