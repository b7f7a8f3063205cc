/**
 * Feeds systemd's watchdog (WATCHDOG_USEC) while the server works: the event loop turns, and either a
 * write was committed since the last look or none waits. A writer that is stuck starves the watchdog, and
 * systemd restarts the server. It looks three times in the watchdog's interval, so that a write that has
 * just begun does no harm.
 */
import type { ServiceNotifier } from './notify.ts'

/** Of the store: how many writes were committed so far, and how many wait for their commit. */
export type Writes = { committed: number; waiting: number }

type WatchdogDeps = {
  env: NodeJS.ProcessEnv
  notifier: ServiceNotifier
  writes(): Writes
}

const LOOKS_PER_INTERVAL = 3

/** Returns the function that stops it. */
export function feedWatchdog({ env, notifier, writes }: WatchdogDeps): () => void {
  const intervalMs = watchdogMs(env)
  if (intervalMs === undefined) return () => undefined
  let committed = -1
  const look = () => {
    const found = writes()
    if (found.waiting === 0 || found.committed !== committed) notifier.send('WATCHDOG=1')
    committed = found.committed
  }
  const timer = setInterval(look, intervalMs / LOOKS_PER_INTERVAL)
  return () => clearInterval(timer)
}

/** Undefined without a watchdog for this process. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number | undefined {
  const microseconds = Number(WATCHDOG_USEC ?? 0)
  const isOwn = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid)
  return isOwn && microseconds > 0 ? microseconds / 1_000 : undefined
}
