import { type DestinationStream, destination, type Logger, pino } from 'pino'

export type Log = Logger
export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'

/** JSON lines on stderr, one object a line; `out` is for tests. */
export function createLog(level: LogLevel, out?: DestinationStream): Log {
  return pino(
    { level, base: undefined, timestamp: pino.stdTimeFunctions.isoTime, errorKey: 'error' },
    out ?? destination({ fd: 2, sync: true }),
  )
}

/** For callers that keep no log, as tests and one-shot commands. */
export function silentLog(): Log {
  return pino({ level: 'silent' })
}
