/** Templates that take long to parse are checked in a composing thread. */
import type { TemplateFault } from '../../mail/template/template.ts'
import { createSingleTasks, type SingleTasksDeps } from './single-tasks.ts'

type TemplateChecks = {
  /** As `checkTemplate` of the template language. Rejects while shutting down. */
  check(source: string): Promise<CheckedTemplate>
  stop(): Promise<void>
}

/** The first fault; undefined = there is none. */
export type CheckedTemplate = TemplateFault | 'too heavy' | undefined

export function createTemplateChecks(deps: SingleTasksDeps): TemplateChecks {
  const tasks = createSingleTasks<string, TemplateFault | undefined>(deps, {
    ask: (task, source) => ({ type: 'check', task, source }),
    read(message) {
      if (message.type === 'not checked') throw new Error(message.error)
      return message.type === 'checked' ? { result: message.fault } : undefined
    },
  })
  return {
    async check(source) {
      const checked = await tasks.run(source)
      return checked === undefined ? 'too heavy' : checked.result
    },
    stop: tasks.stop,
  }
}
