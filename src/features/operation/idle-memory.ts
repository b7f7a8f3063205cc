/**
 * Gives memory back while the server has nothing to do. V8 keeps what a start or a large message took: without
 * work, it neither collects garbage nor returns the pages of a nursery that has grown. A collection that returns them
 * takes 0.2 s, in which requests wait: so it waits until the main thread was idle for twenty seconds and there is
 * something to gain, and comes no more often than every five minutes.
 */
import { type EventLoopUtilization, performance } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { runEvery } from '../../work/loop.ts'

type Deps = {
  /** Bytes of the heap, and of the memory outside of the heap that it holds. */
  heapBytes(): number
  collect(): void
  utilization(): number
}

const LOOK_EVERY_MS = 10_000
/**
 * The largest share of time in which an idle main thread works. An idle server works 1% of the
 * time, and one with a few requests a second 3%.
 */
const MAX_UTILIZATION = 0.02
/** The number of looks in a row that must find the thread idle. */
const IDLE_LOOKS = 2
/** The least number of looks between two collections. */
const REST_LOOKS = 30
const GAIN_BYTES = 16 * 1024 * 1024

/** Starts the watch for idle times; the returned function ends it. */
export function startIdleCollection(deps: Deps = ofThisThread()): () => void {
  let leastBytes = 0
  let idleLooks = 0
  let looksSince = REST_LOOKS

  function look(): void {
    idleLooks = deps.utilization() < MAX_UTILIZATION ? idleLooks + 1 : 0
    looksSince += 1
    const bytes = deps.heapBytes()
    leastBytes = Math.min(leastBytes, bytes)
    const mayCollect = idleLooks >= IDLE_LOOKS && looksSince >= REST_LOOKS
    if (!mayCollect || bytes < leastBytes + GAIN_BYTES) return
    deps.collect()
    looksSince = 0
    leastBytes = deps.heapBytes()
  }

  const loop = runEvery(LOOK_EVERY_MS, look)
  return () => void loop.stop()
}

function ofThisThread(): Deps {
  let last: EventLoopUtilization | undefined
  return {
    heapBytes() {
      const { total_heap_size, external_memory } = getHeapStatistics()
      return total_heap_size + external_memory
    },
    collect: openCollector(),
    utilization() {
      const current = performance.eventLoopUtilization()
      const { utilization } = performance.eventLoopUtilization(current, last)
      last = current
      return utilization
    },
  }
}

/** V8 has the function `gc` only in contexts that are made while its flag is set. */
function openCollector(): () => void {
  let gc: NodeJS.GCFunction | undefined
  return () => {
    if (gc === undefined) {
      setFlagsFromString('--expose-gc')
      gc = runInNewContext('gc') as NodeJS.GCFunction
      setFlagsFromString('--no-expose-gc')
    }
    gc({ type: 'major', flavor: 'last-resort', execution: 'sync' })
  }
}
