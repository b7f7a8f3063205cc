import { MINUTE_MS, SECOND_MS } from '../../clock.ts'

/** How long each phase may take, in milliseconds: RFC 5321 section 4.5.3.2 where it names one. */
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
  /** One block of the message leaving us. */
  block: number
  /** The reply to the final dot. */
  message: number
  quit: number
  /** Opening as a whole, and each message as a whole. */
  whole: number
}

export const defaultTimeouts: Timeouts = {
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
