/**
 * Loaded into the measured server, when it runs from the sources: appends the longest processor time of a
 * turn of the main event loop to the file LOOP_PROBE, once in 100 ms. On a machine with other load, the
 * time by the clock says more about the others.
 */
import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const file = process.env.LOOP_PROBE
if (isMainThread && file !== undefined) probe(file)

function probe(file: string): void {
  let last = processorMs()
  let longest = 0
  // A timer that is due runs in each turn, so that two turns at most are between two looks.
  const look = (): void => {
    const now = processorMs()
    longest = Math.max(longest, now - last)
    last = now
    setTimeout(look, 1).unref()
  }
  look()
  setInterval(() => {
    appendFileSync(file, `${Date.now()} ${longest.toFixed(1)}\n`)
    longest = 0
  }, 100).unref()
}

function processorMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
