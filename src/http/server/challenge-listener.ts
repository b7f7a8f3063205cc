/**
 * The listeners at `acme.listen`, usually port 80: they answer the challenges of orders in progress, and
 * redirect everything else to `base_url`, if that is https. No answer depends on the Host header. They
 * take few, short and small requests.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { SECOND_MS } from '../../base/clock.ts'
import type { ListenAddress } from '../../config/config.ts'
import type { Core } from '../../core/core.ts'
import { CHALLENGE_PATH } from '../../features/operation/acme/challenges.ts'
import { commonHeaders } from '../response.ts'
import { createGuardedServer } from './guarded-server.ts'

type ChallengeListeners = {
  /** The bound addresses, with their actual ports. */
  addresses: readonly ListenAddress[]
  stop(): Promise<void>
}

type Deps = Pick<Core, 'acmeChallenges' | 'config' | 'counters' | 'now'>

const MAX_CONNECTIONS = 200
const MAX_CONNECTIONS_PER_ADDRESS = 20
const LIMITS = {
  isTls: false,
  maxHeaderBytes: 8 * 1024,
  headMs: 10 * SECOND_MS,
  requestMs: 10 * SECOND_MS,
  keepAliveMs: 5 * SECOND_MS,
  maxRequests: 10,
}

/** @throws Error if an address cannot be bound */
export async function startChallengeListeners(deps: Deps): Promise<ChallengeListeners> {
  const listen = deps.config.acme?.listen ?? []
  const servers: Server[] = []
  const stop = async () => {
    await Promise.all(servers.map(close))
  }
  const addresses: ListenAddress[] = []
  try {
    for (const address of listen) {
      const server = createListener(deps)
      servers.push(server)
      addresses.push(await bind(server, address))
    }
  } catch (error) {
    await stop()
    throw error
  }
  return { addresses, stop }
}

function createListener(deps: Deps): Server {
  const redirect = createRedirect(deps.config.baseUrl)
  const connections = {
    max: MAX_CONNECTIONS,
    maxPerAddress: MAX_CONNECTIONS_PER_ADDRESS,
    isProxy: () => false,
    refuse(socket: Socket) {
      deps.counters.add('pillarbox_http_connections_refused_total')
      socket.destroy()
    },
  }
  const { server } = createGuardedServer(deps, { ...LIMITS, connections }, (incoming, outgoing) => {
    // The body is not read, so nothing else can follow on this connection.
    const hasBody = incoming.headers['content-length'] ?? incoming.headers['transfer-encoding']
    if (hasBody !== undefined) outgoing.shouldKeepAlive = false
    const { url = '' } = incoming
    if (url.startsWith(CHALLENGE_PATH)) answer(deps, incoming, outgoing)
    else redirect(url, outgoing)
  })
  return server
}

function answer(
  { acmeChallenges }: Deps,
  { method = '', url = '' }: IncomingMessage,
  outgoing: ServerResponse,
): void {
  const isRead = method === 'GET' || method === 'HEAD'
  const found = isRead ? acmeChallenges.find(url.slice(CHALLENGE_PATH.length)) : undefined
  if (found === undefined) respond(outgoing, { status: 404, text: 'Not found\n' })
  else respond(outgoing, { status: 200, text: found, type: 'application/octet-stream' })
}

/** Keeps path and query, since the target always has the origin of `base_url`. */
function createRedirect(baseUrl: string): (url: string, outgoing: ServerResponse) => void {
  const { origin, protocol } = new URL(baseUrl)
  return (url, outgoing) => {
    // Without TLS, `base_url` may be the address of this listener: a redirect could go in circles.
    if (protocol !== 'https:') return respond(outgoing, { status: 404, text: 'Not found\n' })
    const isPath = url.startsWith('/') && url !== '/' && URL.canParse(`${origin}${url}`)
    const location = isPath ? `${origin}${url}` : baseUrl
    outgoing.setHeader('location', new URL(location).href)
    respond(outgoing, { status: 308, text: '' })
  }
}

type Short = { status: number; text: string; type?: string }

function respond(outgoing: ServerResponse, { status, text, type = 'text/plain' }: Short): void {
  const sizeBytes = Buffer.byteLength(text)
  const own = { 'content-type': type, 'content-length': sizeBytes }
  outgoing.writeHead(status, { ...commonHeaders(false), ...own }).end(text)
}

async function bind(server: Server, address: ListenAddress): Promise<ListenAddress> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(address.port, address.host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  return { ...address, port: (server.address() as AddressInfo).port }
}

async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await closed
}
