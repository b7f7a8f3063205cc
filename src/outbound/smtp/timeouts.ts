/**
 * Time limits for each phase of a session, in ms, and the timer that watches them. RFC 5321 section 4.5.3.2
 * names some of the limits.
 */
import { MINUTE_MS, SECOND_MS } from '../../base/clock.ts'

export type Timeouts = {
  connect: number
  greeting: number
  /** EHLO, HELO, STARTTLS, RSET. */
  command: number
  /** The TLS handshake. */
  handshake: number
  mail: number
  rcpt: number
  data: number
  /** Writing one block of the message. */
  block: number
  /** The reply to the final dot. */
  message: number
  quit: number
  /** The whole opening of a session, and the whole sending of each message. */
  whole: number
}

export const DEFAULT_TIMEOUTS: Timeouts = {
  connect: 30 * SECOND_MS,
  greeting: 5 * MINUTE_MS,
  command: 5 * MINUTE_MS,
  handshake: MINUTE_MS,
  mail: 5 * MINUTE_MS,
  rcpt: 5 * MINUTE_MS,
  data: 2 * MINUTE_MS,
  block: 3 * MINUTE_MS,
  message: 10 * MINUTE_MS,
  quit: 5 * SECOND_MS,
  whole: 60 * MINUTE_MS,
}

/**
 * A time limit that is set again for every reply. Calls `onDue` once for each limit that passes. A
 * later limit does not restart the timer: when the timer fires too early, it is set again for the
 * remaining time.
 */
export function createDeadline(onDue: () => void) {
  let dueAt = Number.POSITIVE_INFINITY
  let firesAt = Number.POSITIVE_INFINITY
  let timer: NodeJS.Timeout | undefined

  /** Counts from now; null = no limit. */
  function set(limitMs: number | null): void {
    dueAt = limitMs === null ? Number.POSITIVE_INFINITY : performance.now() + limitMs
    if (dueAt < firesAt) startTimer()
  }

  function startTimer(): void {
    clearTimeout(timer)
    firesAt = dueAt
    timer = setTimeout(fire, Math.ceil(dueAt - performance.now()))
  }

  function fire(): void {
    firesAt = Number.POSITIVE_INFINITY
    if (dueAt === Number.POSITIVE_INFINITY) return
    if (performance.now() < dueAt) {
      startTimer()
      return
    }
    dueAt = Number.POSITIVE_INFINITY
    onDue()
  }

  return { set, stop: () => clearTimeout(timer) }
}
