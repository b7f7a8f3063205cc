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

const second = 1_000
const minute = 60 * second

export const defaultTimeouts: Timeouts = {
  connect: 30 * second,
  greeting: 5 * minute,
  command: 5 * minute,
  handshake: minute,
  mail: 5 * minute,
  rcpt: 5 * minute,
  data: 2 * minute,
  block: 3 * minute,
  message: 10 * minute,
  quit: 5 * second,
  whole: 60 * minute,
}
