/**
 * A service over SMTP on the addresses that the configuration names: one server each, with the
 * sessions, their limits and the certificate in common.
 */
import type { ListenAddress, TlsFiles } from '../config/config.ts'
import type { Log } from '../log.ts'
import { type CertificatePair, type CertificateWatch, watchCertificate } from './certificates.ts'
import type { GuardedServer } from './guarded-server.ts'
import { createSessions, defaultLimits, type SessionLimits, type Sessions } from './sessions.ts'

export type MailService = {
  /** Where it listens, with the port that was found for port 0. */
  addresses: readonly ListenAddress[]
  /** Says goodbye to who is idle; messages in hand have `graceMs` to end. */
  stop(graceMs: number): Promise<void>
}

export type ServiceOptions = {
  log: Log
  listen: readonly ListenAddress[]
  tls: TlsFiles | null
  limits?: Partial<SessionLimits> | undefined
  /** How often the certificate's files are looked at. */
  certificateEveryMs?: number | undefined
}

export type ServerParts = {
  address: ListenAddress
  sessions: Sessions
  /** Null without TLS. */
  certificate: CertificatePair | null
}

type Parts = { servers: GuardedServer[]; sessions: Sessions; certificate: CertificateWatch | null }

/** @throws Error when an address cannot be listened on or the certificate not be used */
export async function startMailService(
  options: ServiceOptions,
  createServer: (parts: ServerParts) => GuardedServer,
): Promise<MailService> {
  const servers: GuardedServer[] = []
  const certificate = await watch(options, servers)
  const sessions = createSessions({ ...defaultLimits, ...options.limits })
  const stop = (graceMs: number) => stopAll({ servers, sessions, certificate }, graceMs)
  const addresses: ListenAddress[] = []
  try {
    for (const address of options.listen) {
      const pair = certificate?.initial ?? null
      const server = createServer({ address, sessions, certificate: pair })
      server.on('error', (error) => options.log.debug({ error }, 'a mail session broke off'))
      servers.push(server)
      addresses.push(await server.bind(address))
    }
  } catch (error) {
    await stop(0)
    throw error
  }
  return { addresses, stop }
}

async function watch(
  { tls, log, certificateEveryMs }: ServiceOptions,
  servers: readonly GuardedServer[],
): Promise<CertificateWatch | null> {
  if (tls === null) return null
  const every = certificateEveryMs === undefined ? {} : { everyMs: certificateEveryMs }
  return watchCertificate({ ...tls, ...every, log }, (pair) => {
    for (const server of servers) server.renew(pair)
  })
}

async function stopAll({ servers, sessions, certificate }: Parts, graceMs: number): Promise<void> {
  certificate?.stop()
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(resolve)))
  await sessions.stop(graceMs)
  await Promise.all(closed)
}
