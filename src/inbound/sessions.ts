/**
 * Limits the SMTP sessions of one service, on all addresses it listens on: how many there may be, in
 * total and from one address, and how long each may take. A client has a fixed time for each command
 * and each message, which a trickle of octets does not extend. While more than half of all sessions are
 * in use, the time for a command is short.
 */
import ipaddr from 'ipaddr.js'
import { HOUR_MS } from '../base/clock.ts'
import { createKeyPlaces } from '../turns/key-places.ts'

export type SessionLimits = {
  connections: number
  /** Sessions from one IPv4 address or one IPv6 network of 64 bits. */
  connectionsPerAddress: number
  /** The limit of commands between two messages. */
  commands: number
  messages: number
  /** The limit of refusals in one session. */
  errors: number
  /** The time for a command (RFC 5321 section 4.5.3.2.7: five minutes). */
  commandMs: number
  /** The time for a command while more than half of all sessions are in use. */
  busyCommandMs: number
  /** The time for a whole message. */
  dataMs: number
  sessionMs: number
  /** How often the times are checked. */
  checkMs: number
}

export const DEFAULT_SESSION_LIMITS: SessionLimits = {
  connections: 500,
  connectionsPerAddress: 50,
  commands: 300,
  messages: 1_000,
  errors: 20,
  commandMs: 300_000,
  busyCommandMs: 15_000,
  dataMs: 600_000,
  sessionMs: HOUR_MS,
  checkMs: 1_000,
}

/** Times in milliseconds of `performance.now()`. */
export type ServerSession = {
  remoteAddress: string
  /** Ends the session if it has used up its time. */
  checkTimeouts(now: number, commandMs: number): void
  /** Ends the session with a 421, unless it is receiving or handling a message. */
  leave(): void
  destroy(): void
}

export type SmtpSessions = {
  limits: SessionLimits
  /** Called with the code of each reply of 400 and above. */
  refused(code: number): void
  /** Returns why no session may begin from this address; undefined if one may. */
  refuse(remoteAddress: string): string | undefined
  add(session: ServerSession): void
  delete(session: ServerSession): void
  /** Resolves when all sessions have ended; those with a message have `graceMs` to finish. */
  stop(graceMs: number): Promise<void>
}

const LEAVE_EVERY_MS = 20

export function createSessions(
  limits: SessionLimits,
  refused: SmtpSessions['refused'] = () => undefined,
): SmtpSessions {
  const places = createKeyPlaces({
    perKey: limits.connectionsPerAddress,
    all: limits.connections,
  })
  /** Each open session, with the function that gives its place back. */
  const open = new Map<ServerSession, () => void>()
  /** The timer of the checks; it runs while there are sessions. */
  let timer: NodeJS.Timeout | undefined

  function checkTimeouts(): void {
    const isBusy = open.size * 2 > limits.connections
    const commandMs = isBusy ? limits.busyCommandMs : limits.commandMs
    const now = performance.now()
    for (const session of open.keys()) session.checkTimeouts(now, commandMs)
  }

  function endTimer(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    limits,
    refused,
    refuse(remoteAddress) {
      if (places.isFull()) return '4.7.0 Too many connections, try again later'
      const isCrowd = places.isKeyFull(peerOf(remoteAddress))
      return isCrowd ? '4.7.0 Too many connections from your address' : undefined
    },
    add(session) {
      open.set(session, places.take(peerOf(session.remoteAddress)))
      timer ??= setInterval(checkTimeouts, limits.checkMs).unref()
    },
    delete(session) {
      open.get(session)?.()
      open.delete(session)
      if (open.size === 0) endTimer()
    },
    async stop(graceMs) {
      const deadline = performance.now() + graceMs
      while (open.size > 0 && performance.now() < deadline) {
        for (const session of open.keys()) session.leave()
        await new Promise((resolve) => setTimeout(resolve, LEAVE_EVERY_MS))
      }
      for (const session of open.keys()) session.destroy()
      endTimer()
    },
  }
}

/** Returns the network that limits apply to: an IPv6 host may use any address of its /64. */
export function peerOf(remoteAddress: string): string {
  if (!ipaddr.IPv6.isValid(remoteAddress)) return remoteAddress
  return ipaddr.IPv6.parse(remoteAddress).parts.slice(0, 4).join(':')
}
