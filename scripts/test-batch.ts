/**
 * Runs test files of a bundle (`bundle-tests.ts`) in this process, one after the other, each as a suite with
 * the name of the file. A file must leave the process as it was: no open handle or timer, the same folder
 * and environment.
 */
import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { watchTracking } from './promise-tracking.ts'

/**
 * Sockets, threads and processes take a moment to close after `close()` has returned. The time in which this
 * process stood still on a busy machine does not count.
 */
const CLOSING_MS = 2_000
/** On a busy machine the runner takes a while to read all results. */
const ENDING_MS = 240_000
const POLL_MS = 5
/** As much of the time between two looks counts. */
const MAX_COUNTED_MS = 4 * POLL_MS

/**
 * Kinds of `getActiveResourcesInfo` that end by themselves. The count of timers there is not exact:
 * `watchTimers` has them.
 */
const PASSING = new Set([
  'Immediate',
  'TickObject',
  'Timeout',
  'FSReqPromise',
  'FSReqCallback',
  'CloseReq',
  // Octets for a socket or pipe that is not listed any more, such as what the process prints.
  'SimpleWriteWrap',
  'WriteWrap',
])

type ProcessState = { folder: string; env: NodeJS.ProcessEnv; handles: readonly string[] }

/** A function for each test file, which runs the file. */
export type TestFiles = Readonly<Record<string, () => Promise<unknown>>>

export function describeFiles(testFiles: TestFiles, files: readonly string[]): void {
  const endTracking = watchTracking()
  const timers = watchTimers()
  const loaded: Promise<void>[] = []
  const listHandles = () => [
    ...process.getActiveResourcesInfo().filter((kind) => !PASSING.has(kind)),
    ...timers.list(),
  ]
  // Most open handles have failed their file by now; none may keep the process alive for ever.
  after(() => void setTimeout(failOpen, ENDING_MS).unref())
  for (const file of files) {
    const { promise, resolve } = Promise.withResolvers<void>()
    loaded.push(promise)
    describe(file, async () => {
      let start: ProcessState
      before(() => {
        start = { folder: process.cwd(), env: { ...process.env }, handles: listHandles() }
      })
      await testFiles[file]?.().finally(resolve)
      after(async () => {
        assert.deepEqual(await waitForClosing(start, listHandles), [], `${file} leaves them open`)
        assert.equal(process.cwd(), start.folder, `${file} changes the working directory`)
        assert.deepEqual({ ...process.env }, start.env, `${file} changes the environment`)
      })
    })
  }
  Promise.all(loaded).then(endTracking)
}

/** A timer of `node:timers/promises` is one that no file has failed for. */
function failOpen(): never {
  const open = process.getActiveResourcesInfo().join(', ')
  console.error(`A file of this batch leaves handles open: ${open}`)
  process.exit(1)
}

/** Resolves with the handles that were opened since `start` and stay open. */
async function waitForClosing(start: ProcessState, listHandles: () => string[]): Promise<string[]> {
  let waitedMs = 0
  for (;;) {
    const closed = [...start.handles]
    const open = listHandles().filter((kind) => {
      const at = closed.indexOf(kind)
      if (at >= 0) closed.splice(at, 1)
      return at < 0
    })
    if (open.length === 0 || waitedMs > CLOSING_MS) return open
    const before = performance.now()
    await sleep(POLL_MS)
    waitedMs += Math.min(performance.now() - before, MAX_COUNTED_MS)
  }
}

/** Lists the timers of `setTimeout` and `setInterval` that keep the process alive, with their origin. */
function watchTimers(): { list(): string[] } {
  type Made = { timer: WeakRef<NodeJS.Timeout>; origin: Error }
  let made: Made[] = []
  const isAlive = ({ timer }: Made) => {
    const timeout = timer.deref()
    return timeout?.hasRef() === true && Reflect.get(timeout, '_destroyed') !== true
  }
  const watch = <Set extends typeof setTimeout | typeof setInterval>(set: Set): Set => {
    const watched = (...args: Parameters<typeof setTimeout>) => {
      const timer = set(...args)
      made.push({ timer: new WeakRef(timer), origin: new Error('Timeout') })
      return timer
    }
    return Object.assign(watched, {
      [promisify.custom]: Reflect.get(set, promisify.custom),
    }) as unknown as Set
  }
  globalThis.setTimeout = watch(globalThis.setTimeout)
  globalThis.setInterval = watch(globalThis.setInterval)
  return {
    list: () => {
      made = made.filter(isAlive)
      return made.map(({ origin }) => describeOrigin(origin))
    },
  }
}

/** `Timeout, createBodyPace (src/http/body/body-pace.ts:12:5)`: the caller of `setTimeout`. */
function describeOrigin({ stack = '' }: Error): string {
  const caller = stack.split('\n')[2]?.trim().replace(/^at /, '') ?? ''
  return `Timeout, ${caller.replace(`${pathToFileURL(process.cwd()).href}/`, '')}`
}
