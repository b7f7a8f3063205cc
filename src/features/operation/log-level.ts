/**
 * The level of the running server's log: changed for a while, then the configured one again. A restart begins with
 * the configured level.
 */
import type { Now } from '../../base/clock.ts'
import type { Log, LogLevel } from '../../base/log.ts'

export const LOG_LEVELS: readonly LogLevel[] = [
  ...(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const),
]

export type LogLevelState = {
  level: string
  /** The level that `log.level` sets. */
  configured: string
  /** When the configured level returns (epoch ms); null while it is in effect. */
  until: number | null
}

type LogLevelControl = {
  show(): LogLevelState
  set(level: LogLevel, forMs: number): LogLevelState
  stop(): void
}

type Deps = { log: Log; now: Now }

export function createLogLevel({ log, now }: Deps): LogLevelControl {
  const configured = log.level
  let until: number | null = null
  let timer: NodeJS.Timeout | undefined

  function fallBack(): void {
    clearTimeout(timer)
    if (until === null) return
    until = null
    log.level = configured
    log.info({ configured }, 'the log has its configured level again')
  }

  const show = () => ({ level: log.level, configured, until })
  return {
    show,
    set(level, forMs) {
      if (level === configured) {
        fallBack()
        return show()
      }
      clearTimeout(timer)
      // Logged before and after the change, so that one of the two levels shows it.
      log.info({ next: level, forMs }, 'the level of the log changes')
      log.level = level
      until = now() + forMs
      timer = setTimeout(fallBack, forMs).unref()
      return show()
    },
    stop: () => clearTimeout(timer),
  }
}
