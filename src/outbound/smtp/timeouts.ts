/** Limits for each phase of a session, in ms. RFC 5321 section 4.5.3.2 names some of them. */
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
