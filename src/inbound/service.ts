/**
 * Starts an SMTP service on the configured addresses: one server for each, all with the same sessions,
 * limits and certificate. While the ordered certificate is not there yet, addresses that need one are
 * closed, and the others offer no STARTTLS.
 */

import type { Counters } from '../base/counters.ts'
import type { Log } from '../base/log.ts'
import { type LateOpening, openLate, reserveAddress } from '../config/certificates/late-opening.ts'
import type { CertificatePair } from '../config/certificates/pair.ts'
import type { Certificates } from '../config/certificates/watch.ts'
import type { ListenAddress } from '../config/config.ts'
import type { GuardedServer } from './guarded-server.ts'
import {
  createSessions,
  DEFAULT_SESSION_LIMITS,
  type SessionLimits,
  type SmtpSessions,
} from './sessions.ts'

export type MailService = {
  /** The addresses with their actual ports, also for port 0. */
  addresses: readonly ListenAddress[]
  /** Ends idle sessions with a 421; messages being received have `graceMs` to finish. */
  stop(graceMs: number): Promise<void>
}

type ServiceOptions = {
  log: Log
  counters: Pick<Counters, 'add'>
  name: 'inbound' | 'submission'
  listen: readonly ListenAddress[]
  certificates: Pick<Certificates, 'follow'>
  /** Whether this address stays closed until there is a certificate. Default: none does. */
  needsCertificate?: (address: ListenAddress) => boolean
  limits?: Partial<SessionLimits> | undefined
}

export type ServerParts = {
  address: ListenAddress
  sessions: SmtpSessions
  /** The certificate; null without TLS, and while it has not been ordered yet. */
  certificate: CertificatePair | null
}

type ServiceParts = { servers: GuardedServer[]; sessions: SmtpSessions; late: LateOpening[] }

/** @throws Error if it cannot listen on an address or use the certificate */
export async function startMailService(
  options: ServiceOptions,
  createServer: (parts: ServerParts) => GuardedServer,
): Promise<MailService> {
  const { name, log, counters, listen, certificates, needsCertificate = () => false } = options
  const sessions = createSessions({ ...DEFAULT_SESSION_LIMITS, ...options.limits }, (code) =>
    counters.add('pillarbox_smtp_refusals_total', { service: name, code: String(code) }),
  )
  const parts: ServiceParts = { servers: [], sessions, late: [] }
  const waiting: { server: GuardedServer; address: ListenAddress }[] = []
  let isStopped = false
  let certificate = listen.length === 0 ? null : certificates.follow(name, renew)

  function renew(pair: CertificatePair): void {
    certificate = pair
    for (const server of parts.servers) server.renew(pair)
    openWaiting()
  }

  function openWaiting(): void {
    if (isStopped) return
    for (const { server, address } of waiting.splice(0)) {
      parts.late.push(openLate({ log }, address, () => server.bind(address)))
    }
  }

  /** Returns the address with its actual port. */
  async function open(server: GuardedServer, address: ListenAddress): Promise<ListenAddress> {
    if (certificate !== null || !needsCertificate(address)) return server.bind(address)
    const reserved = await reserveAddress(address)
    waiting.push({ server, address: reserved })
    // The certificate may have come while the addresses were being opened.
    if (certificate !== null) openWaiting()
    return reserved
  }

  function stop(graceMs: number): Promise<void> {
    // Stays closed: a certificate that comes after the stop opens nothing.
    isStopped = true
    return stopAll(parts, graceMs)
  }

  const addresses: ListenAddress[] = []
  try {
    for (const address of listen) {
      const server = createServer({ address, sessions, certificate })
      server.on('error', (error) => log.debug({ error }, 'a mail session failed'))
      parts.servers.push(server)
      addresses.push(await open(server, address))
    }
  } catch (error) {
    await stop(0)
    throw error
  }
  return { addresses, stop }
}

async function stopAll({ servers, sessions, late }: ServiceParts, graceMs: number): Promise<void> {
  for (const opening of late) opening.stop()
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(resolve)))
  await sessions.stop(graceMs)
  await Promise.all(closed)
}
