/** Work on single texts in a composing thread: rendering, converting Markdown, checking templates. */

import type { TemplateFault } from '../../formats/template/template.ts'
import type { TextsSource } from '../protocol.ts'
import type { ThreadTasks } from './thread-tasks.ts'

export type RenderedTexts = readonly string[] | 'too heavy'

/** The first fault; undefined without one. */
export type CheckedTemplate = TemplateFault | 'too heavy' | undefined

/**
 * Renders texts outside messages, such as the body of a webhook, in the order of the templates, or 'too heavy' if all of them together take too much time or
 * memory. Rejects as `ThreadTasks.run`.
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

/**
 * Converts a client's Markdown to HTML; null if the text is too complex. A hostile text may take two
 * seconds. Rejects as `ThreadTasks.run`.
 */
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

/**
 * Checks a template that takes long to parse, as `checkTemplate` of the template language does. Rejects as
 * `ThreadTasks.run`.
 */
export async function checkInThread(
  tasks: Pick<ThreadTasks, 'run'>,
  source: string,
): Promise<CheckedTemplate> {
  const checked = await tasks.run<TemplateFault | undefined>({
    ask: (task) => ({ type: 'check', task, source }),
    read(message) {
      if (message.type === 'not checked') throw new Error(message.error)
      return message.type === 'checked' ? { result: message.fault } : undefined
    },
  })
  return checked === undefined ? 'too heavy' : checked.result
}
