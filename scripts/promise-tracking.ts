/**
 * The test runner follows every promise, so that an error outside a test's own promises fails that test.
 * To follow them costs an eighth of the processor time of a batch, in the tests of HTTP a quarter. Once all
 * suites are there, nothing else needs it: such an error is then printed with the test that runs, and
 * ends the process, which fails its batch.
 */
import { createHook } from 'node:async_hooks'
import { beforeEach } from 'node:test'

/** Call before the first suite is described. Returns a function that ends the tracking. */
export function watchTracking(): () => void {
  const prototype = Object.getPrototypeOf(createHook({}))
  const { enable } = prototype
  const hooks: { disable(): unknown }[] = []
  prototype.enable = function (this: { disable(): unknown }) {
    hooks.push(this)
    return enable.call(this)
  }
  let running = 'no test'
  beforeEach((context) => {
    if ('fullName' in context) running = context.fullName
  })
  return () => {
    prototype.enable = enable
    for (const hook of hooks) hook.disable()
    const fail = (error: unknown) => {
      console.error(
        `An error outside the promises of a test ended this batch in "${running}":`,
        error,
      )
      process.exit(1)
    }
    process.prependListener('uncaughtException', fail)
    process.prependListener('unhandledRejection', fail)
  }
}
