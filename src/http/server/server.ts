/**
 * The HTTP listener. A stop has two parts. After `announceStop` the server works as before, but
 * each response closes its connection, so that few clients still have a connection when the server
 * ends. `stop` stops accepting connections and lets running requests finish. It waits only briefly
 * for clients, waits for the server's own work until the grace time ends, and then closes the
 * remaining connections.
 */
import type { RequestListener, Server } from 'node:http'
import type { Server as TlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../base/errors.ts'
import {
  type LateOpening,
  openLate,
  reserveAddress,
} from '../../config/certificates/late-opening.ts'
import type { CertificatePair } from '../../config/certificates/pair.ts'
import type { ListenAddress } from '../../config/config.ts'
import type { Core } from '../../core/core.ts'
import type { RequestLog } from '../../features/ground/requests/log.ts'
import { createRateLimiter, type RateLimiter } from '../../features/ground/requests/rate-limit.ts'
import { createApi } from '../api.ts'
import { REQUEST_TIMEOUT_MS } from '../body/body-pace.ts'
import { createAddressList, plainAddress } from './client-address.ts'
import type { ConnectionLimits, Connections } from './connections.ts'
import { createGuardedServer, type ListenerGuards } from './guarded-server.ts'
import { writeRefusal } from './raw-response.ts'

type HttpDeps = {
  core: Core
  requestLog: Pick<RequestLog, 'record'>
  /**
   * The rate limiter of keys, shared with SMTP submission; the server creates its own if absent.
   */
  limiter?: RateLimiter
}

export type HttpServer = {
  /**
   * The bound address, with the actual port if the configuration says port 0. Until an ordered
   * certificate has come, the port is closed; it will be opened at this address.
   */
  address: { host: string; port: number }
  /** `http://127.0.0.1:8080` */
  url: string
  announceStop(): void
  stop(graceMs: number): Promise<void>
}

/** Longer than proxies keep idle connections, so that no proxy sends into a closing connection. */
const KEEP_ALIVE_MS = 75_000
const HEAD_MS = 60_000
const MAX_HEADER_BYTES = 16 * 1024

/** The Retry-After for clients that have too many connections. */
const RETRY_AFTER_SECONDS = 5

/** How long a stop waits for a client to send its request or take its response. */
const CLIENT_GRACE_MS = 1_000

/** @throws Error when the address cannot be bound or a TLS file cannot be read */
export async function startHttp(deps: HttpDeps): Promise<HttpServer> {
  const { core, requestLog } = deps
  const { listen } = core.config.http
  const limiter =
    deps.limiter ?? createRateLimiter(core.config.limits.apiRequestsPerMinute, core.now)
  const stopping = new AbortController()
  const sessions = createRateLimiter(core.config.limits.sessionRequestsPerMinute, core.now)
  const limiters = { keys: limiter, sessions }
  const api = createApi({ core, limiters, requestLog, stopping: stopping.signal })
  const running = createRunning()
  let isStopAnnounced = false
  const handle: RequestListener = async (incoming, outgoing) => {
    if (isStopAnnounced) outgoing.shouldKeepAlive = false
    running.begin()
    try {
      await api(incoming, outgoing)
    } catch (error) {
      core.log.error({ error }, 'a response was not sent')
      incoming.destroy()
    } finally {
      running.end()
    }
  }
  const guards: ListenerGuards = {
    ...{ isTls: core.config.http.tls !== null, connections: connectionLimits(core) },
    ...{ maxHeaderBytes: MAX_HEADER_BYTES, headMs: HEAD_MS, requestMs: REQUEST_TIMEOUT_MS },
    ...{ keepAliveMs: KEEP_ALIVE_MS, maxRequests: Number.POSITIVE_INFINITY },
  }
  const { server, connections } = createGuardedServer(core, guards, handle)
  const open = (port: number) => listening(server, listen.host, port)
  const { port, stopOpening } = await openWithCertificate(core, server, open)
  return {
    address: { host: listen.host, port },
    url: urlOf(core.config.http.tls === null ? 'http' : 'https', listen.host, port),
    announceStop() {
      isStopAnnounced = true
    },
    stop: (graceMs) => {
      isStopAnnounced = true
      stopping.abort()
      stopOpening()
      return stopServer(server, { connections, running, graceMs })
    },
  }
}

/**
 * Opens the listener; with TLS, once there is a certificate. Renewed certificates are used for later
 * handshakes. Returns the port that is bound or will be.
 */
async function openWithCertificate(
  { certificates, config, log }: Core,
  server: Server,
  open: (port: number) => Promise<void>,
): Promise<{ port: number; stopOpening(): void }> {
  const { listen, tls } = config.http
  let late: LateOpening | undefined
  let reserved: ListenAddress | undefined
  let pair = tls === null ? null : certificates.follow('http', use)

  function use(renewed: CertificatePair): void {
    pair = renewed
    ;(server as TlsServer).setSecureContext(renewed)
    openReserved()
  }

  function openReserved(): void {
    const address = reserved
    if (address === undefined || late !== undefined) return
    late = openLate({ log }, address, () => open(address.port))
  }

  function stopOpening(): void {
    // A certificate that comes later does not open the listener.
    reserved = undefined
    late?.stop()
  }

  if (tls !== null && pair === null) {
    reserved = await reserveAddress(listen)
    // The certificate may have come meanwhile.
    if (pair !== null) openReserved()
    return { port: reserved.port, stopOpening }
  }
  if (pair !== null) (server as TlsServer).setSecureContext(pair)
  await open(listen.port)
  const { port } = server.address() as AddressInfo
  return { port, stopOpening: () => undefined }
}

function connectionLimits(core: Core): ConnectionLimits {
  const { maxConnections, maxConnectionsPerAddress, trustedProxies, tls } = core.config.http
  const proxies = createAddressList(trustedProxies)
  return {
    max: maxConnections,
    maxPerAddress: maxConnectionsPerAddress,
    isProxy: (address) => proxies.has(plainAddress(address)),
    refuse(socket, isOfAddress) {
      core.counters.add('pillarbox_http_connections_refused_total')
      // Before the TLS handshake no response can be sent.
      if (tls !== null) socket.destroy()
      else void writeRefusal(core, socket, { error: tooMany(isOfAddress), isPublicApi: false })
    },
  }
}

function tooMany(isOfAddress: boolean): AppError {
  if (isOfAddress)
    return new AppError('RATE_LIMIT_EXCEEDED', 'Too many connections from this address.', {
      details: { retryAfter: RETRY_AFTER_SECONDS },
    })
  return new AppError('EXTERNAL_SERVICE_ERROR', 'Too many connections. Try again in a moment.')
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

type StopOptions = { connections: Connections; running: Running; graceMs: number }

async function stopServer(
  server: Server,
  { connections, running, graceMs }: StopOptions,
): Promise<void> {
  // In this phase of a turn the clients that had connected have been accepted; the others get a refusal.
  await setImmediate()
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  const { promise: isOver, resolve: endGrace } = Promise.withResolvers<void>()
  const cutting = setInterval(connections.cutWaiting, Math.min(CLIENT_GRACE_MS, graceMs))
  const deadline = setTimeout(() => {
    connections.cutAll()
    endGrace()
  }, graceMs)
  await closed
  // A request may still be cleaning up after its client has disconnected.
  await Promise.race([running.whenNone(), isOver])
  clearInterval(cutting)
  clearTimeout(deadline)
}

/** The requests that run, whether their clients wait or have left. */
type Running = {
  begin(): void
  end(): void
  /** Resolves when none runs. */
  whenNone(): Promise<void>
}

function createRunning(): Running {
  let count = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  let isAsked = false
  const tell = () => {
    if (isAsked && count === 0) resolve()
  }
  return {
    begin: () => {
      count += 1
    },
    end: () => {
      count -= 1
      tell()
    },
    whenNone: () => {
      isAsked = true
      tell()
      return promise
    },
  }
}

function urlOf(scheme: string, host: string, port: number): string {
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`
}
