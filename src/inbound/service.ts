/**
 * Starts an SMTP service on the configured addresses: one server for each, all with the same sessions,
 * limits and certificate.
 */
import type { CertificatePair, Certificates } from '../config/certificates/watch.ts'
import type { ListenAddress } from '../config/config.ts'
import type { Counters } from '../counters.ts'
import type { Log } from '../log.ts'
import type { GuardedServer } from './guarded-server.ts'
import { createSessions, DEFAULT_LIMITS, type SessionLimits, type Sessions } from './sessions.ts'

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
  limits?: Partial<SessionLimits> | undefined
}

export type ServerParts = {
  address: ListenAddress
  sessions: Sessions
  /** Null without TLS. */
  certificate: CertificatePair | null
}

type ServiceParts = { servers: GuardedServer[]; sessions: Sessions }

/** @throws Error if it cannot listen on an address or use the certificate */
export async function startMailService(
  options: ServiceOptions,
  createServer: (parts: ServerParts) => GuardedServer,
): Promise<MailService> {
  const servers: GuardedServer[] = []
  const { name: service, counters } = options
  const sessions = createSessions({ ...DEFAULT_LIMITS, ...options.limits }, (code) =>
    counters.add('pillarbox_smtp_refusals_total', { service, code: String(code) }),
  )
  const stop = (graceMs: number) => stopAll({ servers, sessions }, graceMs)
  const addresses: ListenAddress[] = []
  try {
    const certificate = follow(options, servers)
    for (const address of options.listen) {
      const server = createServer({ address, sessions, certificate })
      server.on('error', (error) => options.log.debug({ error }, 'a mail session failed'))
      servers.push(server)
      addresses.push(await server.bind(address))
    }
  } catch (error) {
    await stop(0)
    throw error
  }
  return { addresses, stop }
}

/** Returns the current certificate and uses its successors; null if there are no addresses. */
function follow(
  { name, listen, certificates }: ServiceOptions,
  servers: readonly GuardedServer[],
): CertificatePair | null {
  if (listen.length === 0) return null
  return certificates.follow(name, (pair) => {
    for (const server of servers) server.renew(pair)
  })
}

async function stopAll({ servers, sessions }: ServiceParts, graceMs: number): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(resolve)))
  await sessions.stop(graceMs)
  await Promise.all(closed)
}
