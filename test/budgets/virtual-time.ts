/**
 * A clock that a test moves, for everything in this process that takes the time or waits for it: `Date`,
 * `performance.now`, timers, `node:timers/promises`. Threads that start later read the same clock
 * (`threadClock`). Timers inside Node, such as those of sockets, stay real.
 */
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { setEnvironmentData } from 'node:worker_threads'

export type VirtualTime = {
  now(): number
  /** Timers that have fired so far. */
  fired(): number
  /** Fires what is due at the next instant at which anything is due; false if that is after `end`. */
  fireNext(end: number): boolean
  /** Fires once what is due within so many ms, and leaves the clock where it is. */
  fireEarly(ms: number): void
  moveTo(at: number): void
}

const CLOCK = 'clock of the budgets'

/** For `--import`, in each thread: `Date.now` reads the clock of the main thread. */
export const threadClock = `data:text/javascript,${encodeURIComponent(`
import { getEnvironmentData, isMainThread } from 'node:worker_threads'
const clock = isMainThread ? undefined : getEnvironmentData(${JSON.stringify(CLOCK)})
if (clock !== undefined) Date.now = () => clock[0]
`)}`

type Callback = (...args: unknown[]) => void

class VirtualTimer {
  dueAt = 0
  readonly callback: Callback
  readonly args: unknown[]
  readonly everyMs: number | undefined
  readonly ms: number
  #timers: Timers

  constructor(
    timers: Timers,
    callback: Callback,
    ms: number,
    isRepeated: boolean,
    args: unknown[],
  ) {
    this.#timers = timers
    this.callback = callback
    this.args = args
    this.ms = ms >= 1 ? Math.trunc(ms) : 1
    this.everyMs = isRepeated ? this.ms : undefined
    this.refresh()
  }
  refresh(): this {
    this.#timers.set(this, this.ms)
    return this
  }
  close(): this {
    this.#timers.clear(this)
    return this
  }
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return true
  }
  [Symbol.dispose](): void {
    this.close()
  }
}

type Timers = {
  set(timer: VirtualTimer, ms: number): void
  clear(timer: unknown): void
}

/** `start`: epoch ms. */
export function installVirtualTime(start: number): VirtualTime {
  const clock = new Float64Array(new SharedArrayBuffer(8))
  clock[0] = start
  const now = () => clock[0] ?? start
  /** In the order of their setting; re-set timers go to the end. */
  const waiting = new Set<VirtualTimer>()
  let fired = 0
  const timers: Timers = {
    set(timer, ms) {
      timer.dueAt = now() + ms
      waiting.delete(timer)
      waiting.add(timer)
    },
    clear: (timer) => void waiting.delete(timer as VirtualTimer),
  }
  setEnvironmentData(CLOCK, clock as never)
  replaceClocks(now, start)
  replaceTimers(timers)

  function firstDueAt(): number {
    let first = Number.POSITIVE_INFINITY
    for (const { dueAt } of waiting) first = Math.min(first, dueAt)
    return first
  }

  function fireUntil(at: number): void {
    for (const timer of [...waiting]) {
      if (timer.dueAt > at) continue
      if (!waiting.delete(timer)) continue
      fired += 1
      if (timer.everyMs !== undefined) timers.set(timer, timer.everyMs)
      timer.callback(...timer.args)
    }
  }

  return {
    now,
    fired: () => fired,
    moveTo(at) {
      clock[0] = at
    },
    fireNext(end) {
      const at = firstDueAt()
      if (at > end) return false
      clock[0] = Math.max(now(), at)
      fireUntil(at)
      return true
    },
    fireEarly: (ms) => fireUntil(now() + ms),
  }
}

function replaceClocks(now: () => number, start: number): void {
  const RealDate = Date
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  })
  performance.now = () => now() - start
}

function replaceTimers(timers: Timers): void {
  const set =
    (isRepeated: boolean) =>
    (callback: Callback, ms = 1, ...args: unknown[]) =>
      new VirtualTimer(timers, callback, ms, isRepeated, args)
  const functions = {
    ...{ setTimeout: set(false), setInterval: set(true) },
    ...{ clearTimeout: timers.clear, clearInterval: timers.clear },
  }
  const wait = (ms = 1, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortion(signal))
      const timer = new VirtualTimer(timers, () => end(), ms, false, [])
      const abort = () => {
        timer.close()
        reject(abortion(signal))
      }
      const end = () => {
        signal?.removeEventListener('abort', abort)
        resolve(value)
      }
      signal?.addEventListener('abort', abort, { once: true })
    })
  const require = createRequire(import.meta.url)
  Object.assign(globalThis, functions)
  Object.assign(require('node:timers'), functions)
  Object.assign(require('node:timers/promises'), { setTimeout: wait })
  syncBuiltinESMExports()
}

function abortion(signal: AbortSignal | undefined): Error {
  const error = new Error('The operation was aborted', { cause: signal?.reason })
  return Object.assign(error, { name: 'AbortError', code: 'ABORT_ERR' })
}
