/** Templates that take long to parse are checked in a composing thread. */
import type { TemplateFault } from '../../formats/template/template.ts'
import type { ThreadTasks } from './thread-tasks.ts'

/** The first fault; undefined = there is none. */
export type CheckedTemplate = TemplateFault | 'too heavy' | undefined

/** As `checkTemplate` of the template language. Rejects as `ThreadTasks.run`. */
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
