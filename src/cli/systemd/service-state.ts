/** What `serve` tells systemd: progress of the start, readiness, signs of life, the stop. */
import type { App } from '../../app.ts'
import type { Log } from '../../base/log.ts'
import { createServiceNotifier } from './notify.ts'
import { feedWatchdog } from './watchdog.ts'

export type ServiceState = {
  migrating(progress: { number: number; last: number; elapsedMs: number }): void
  ready(app: Pick<App, 'ready' | 'writes'>): void
  stopping(): void
  /** Ends the timer. */
  close(): void
}

/** The start may take so much longer after each line of a migration's progress. */
const EXTENSION_SECONDS = 120

export function reportServiceState(env: NodeJS.ProcessEnv, log: Log): ServiceState {
  const notifier = createServiceNotifier({ env, log })
  let stopWatchdog: () => void = () => undefined
  return {
    migrating({ number, last, elapsedMs }) {
      const seconds = Math.round(elapsedMs / 1_000)
      const status = `migrating the database: step ${number} of ${last}, ${seconds} s so far`
      notifier.send(`EXTEND_TIMEOUT_USEC=${EXTENSION_SECONDS * 1_000_000}`, `STATUS=${status}`)
    },
    ready({ ready, writes }) {
      notifier.send('READY=1', `STATUS=serving ${ready.http} in ${ready.mode} mode`)
      stopWatchdog = feedWatchdog({ env, notifier, writes })
    },
    stopping() {
      notifier.send('STOPPING=1', 'STATUS=stopping')
    },
    close: () => stopWatchdog(),
  }
}
