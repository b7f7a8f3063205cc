/**
 * On the main thread: templates that take long to parse are checked in a composing thread of their
 * own, one at a time, so that no connection and no message waits for them. A template that takes
 * too much of the thread's time or memory is not tried again.
 */
import type { TemplateFault } from '../../mail/template/template.ts'
import type { FromThread } from '../protocol.ts'
import { createSemaphore } from '../semaphore.ts'
import { createThreads, shutdownError, type ThreadEnd, type ThreadsOptions } from '../threads.ts'

type TemplateChecksDeps = Pick<ThreadsOptions, 'settings' | 'log'> & {
  hangMs: number
  /** The thread ends when there has been nothing to check for this long. */
  restMs: number
  /** For tests. */
  createThreads?: typeof createThreads
}

type TemplateChecks = {
  /** As `checkTemplate` of the template language. Rejects while shutting down. */
  check(source: string): Promise<CheckedTemplate>
  stop(): Promise<void>
}

/** The first fault; undefined = there is none. */
export type CheckedTemplate = TemplateFault | 'too heavy' | undefined

type CurrentCheck = { task: number; source: string; settled: PromiseWithResolvers<CheckedTemplate> }

export function createTemplateChecks({
  hangMs,
  restMs,
  ...deps
}: TemplateChecksDeps): TemplateChecks {
  const threads = (deps.createThreads ?? createThreads)({
    ...deps,
    name: 'composing',
    maxThreads: 1,
    hangMs: () => hangMs,
    received,
    ended,
  })
  // The number of waiting checks is bounded elsewhere: each caller holds a share of the memory for
  // request bodies.
  const semaphore = createSemaphore({ atOnce: 1, waiting: Number.POSITIVE_INFINITY })
  let current: CurrentCheck | null = null
  let lastTask = 0
  let timer: NodeJS.Timeout | undefined

  async function ask(source: string): Promise<CheckedTemplate> {
    clearTimeout(timer)
    const asked = { task: ++lastTask, source, settled: Promise.withResolvers<CheckedTemplate>() }
    current = asked
    begin(asked)
    try {
      return await asked.settled.promise
    } finally {
      current = null
      timer = setTimeout(threads.endAll, restMs).unref()
    }
  }

  function begin({ task, source, settled }: CurrentCheck): void {
    const thread = threads.list()[0] ?? threads.start()
    if (thread !== undefined) thread.postMessage({ type: 'check', task, source })
    else settled.reject(new Error('there is no thread to check the template'))
  }

  function received(_thread: unknown, message: FromThread): void {
    if (message.type === 'checked') current?.settled.resolve(message.fault)
    if (message.type === 'not checked') current?.settled.reject(new Error(message.error))
  }

  function ended(_thread: unknown, { hasStarted }: ThreadEnd): void {
    if (current === null) return
    if (hasStarted) current.settled.resolve('too heavy')
    else begin(current)
  }

  async function stop(): Promise<void> {
    semaphore.stop()
    current?.settled.reject(shutdownError())
    clearTimeout(timer)
    threads.endAll()
    await threads.stop(0)
    clearTimeout(timer)
  }

  return { check: (source) => semaphore.take(() => ask(source)), stop }
}
