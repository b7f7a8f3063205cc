/**
 * A service over SMTP on the addresses that the configuration names: one server each, with the
 * sessions, their limits and the certificate in common.
 */
import type { CertificatePair, Certificates } from '../config/certificates/watch.ts'
import type { ListenAddress } from '../config/config.ts'
import type { Log } from '../log.ts'
import type { GuardedServer } from './guarded-server.ts'
import { createSessions, DEFAULT_LIMITS, type SessionLimits, type Sessions } from './sessions.ts'

export type MailService = {
  /** Where it listens, with the port that was found for port 0. */
  addresses: readonly ListenAddress[]
  /** Says goodbye to who is idle; messages in hand have `graceMs` to end. */
  stop(graceMs: number): Promise<void>
}

export type ServiceOptions = {
  log: Log
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

type Parts = { servers: GuardedServer[]; sessions: Sessions }

/** @throws Error when an address cannot be listened on or the certificate not be used */
export async function startMailService(
  options: ServiceOptions,
  createServer: (parts: ServerParts) => GuardedServer,
): Promise<MailService> {
  const servers: GuardedServer[] = []
  const sessions = createSessions({ ...DEFAULT_LIMITS, ...options.limits })
  const stop = (graceMs: number) => stopAll({ servers, sessions }, graceMs)
  const addresses: ListenAddress[] = []
  try {
    const certificate = follow(options, servers)
    for (const address of options.listen) {
      const server = createServer({ address, sessions, certificate })
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

/** Where nothing listens, nobody meets a certificate. */
function follow(
  { name, listen, certificates }: ServiceOptions,
  servers: readonly GuardedServer[],
): CertificatePair | null {
  if (listen.length === 0) return null
  return certificates.follow(name, (pair) => {
    for (const server of servers) server.renew(pair)
  })
}

async function stopAll({ servers, sessions }: Parts, graceMs: number): Promise<void> {
  const closed = servers.map((server) => new Promise<void>((resolve) => server.close(resolve)))
  await sessions.stop(graceMs)
  await Promise.all(closed)
}
