/**
 * Reports the state of `serve` to systemd: progress of the start, readiness, signs of life, the
 * stop.
 */
import { spawn } from 'node:child_process'
import type { App } from '../../app.ts'
import { describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { missingFile, SYSTEM_FILE } from '../../config/layers/file.ts'
import type { LoadedConfig } from '../../config/load.ts'
import { ConfigError } from '../../config/problems.ts'

type ServiceState = {
  migrating(progress: { number: number; last: number; elapsedMs: number }): void
  ready(app: Pick<App, 'ready' | 'writes'>): void
  stopping(): void
  /** Ends the timer of the watchdog. */
  close(): void
}

/** Seconds by which each line of a migration's progress extends the time limit of the start. */
const EXTENSION_SECONDS = 120

/**
 * The writes of the store. `committed`: their number so far; `waiting`: those that are not
 * committed yet.
 */
export type Writes = { committed: number; waiting: number }

type WatchdogDeps = {
  env: NodeJS.ProcessEnv
  notifier: ServiceNotifier
  writes(): Writes
}

const LOOKS_PER_INTERVAL = 3

type ServiceNotifier = {
  /** Sends assignments such as `READY=1`. Returns at once. Only the first failure is logged. */
  send(...assignments: string[]): void
}

type NotifierDeps = { env: NodeJS.ProcessEnv; log: Pick<Log, 'warn'> }

const PROGRAM = 'systemd-notify'
/**
 * Variables that systemd sets for its services; one of them shows that this process is a service.
 */
const MARKS = ['INVOCATION_ID', 'NOTIFY_SOCKET']

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

/**
 * Tells systemd's watchdog (WATCHDOG_USEC) that the server works: the event loop turns, and a write
 * was committed since the last look or no write waits. If the writer is stuck, nothing is told, and
 * systemd restarts the server. Each interval of the watchdog has three looks, so that a write that
 * has just begun does no harm. Returns the function that stops the looks.
 */
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

/** Milliseconds of the watchdog's interval; undefined if this process has no watchdog. */
function watchdogMs({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number | undefined {
  const microseconds = Number(WATCHDOG_USEC ?? 0)
  const isOwn = WATCHDOG_PID === undefined || WATCHDOG_PID === String(process.pid)
  return isOwn && microseconds > 0 ? microseconds / 1_000 : undefined
}

/**
 * Creates a notifier that tells systemd about the service (sd_notify(3)), by the program
 * `systemd-notify`, because Node has no datagram sockets of the Unix domain. Without NOTIFY_SOCKET
 * the notifier does nothing.
 */
export function createServiceNotifier({ env, log }: NotifierDeps): ServiceNotifier {
  const { NOTIFY_SOCKET, PATH } = env
  let isFailureLogged = false

  function fail(error: string): void {
    if (isFailureLogged) return
    isFailureLogged = true
    log.warn({ error }, `${PROGRAM} failed: systemd does not learn the state of the server`)
  }

  function start(assignments: readonly string[], socket: string): void {
    const child = spawn(PROGRAM, assignments, {
      env: { NOTIFY_SOCKET: socket, ...(PATH === undefined ? {} : { PATH }) },
      stdio: 'ignore',
    })
    child.on('error', (error) => fail(describeError(error)))
    child.on('exit', (status) => {
      if (status !== 0) fail(`it ended with status ${status}`)
    })
    child.unref()
  }

  return {
    send(...assignments) {
      if (NOTIFY_SOCKET === undefined || NOTIFY_SOCKET === '') return
      try {
        start(assignments, NOTIFY_SOCKET)
      } catch (error) {
        // Node throws if there is no memory for another process.
        fail(describeError(error))
      }
    },
  }
}

/**
 * Returns the error to throw for a failed start. For a service without a configuration, this error
 * names the command that writes one: systemd starts the service in `/`, where the default data
 * folder cannot be made. A start by hand is a sandbox in the current folder and keeps its error.
 */
export function explainUnconfigured(
  error: unknown,
  { env, loaded }: { env: NodeJS.ProcessEnv; loaded: Pick<LoadedConfig, 'config' | 'origins'> },
): unknown {
  const isService = MARKS.some((name) => (env[name] ?? '') !== '')
  const isConfigured = loaded.config.file !== null || loaded.origins.size > 0
  if (!isService || isConfigured || !(error instanceof ConfigError)) return error
  const isFolderMissing = error.problems.some(({ key }) => key === 'data_dir')
  return isFolderMissing ? missingFile(SYSTEM_FILE, error) : error
}
