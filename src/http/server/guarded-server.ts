/**
 * An HTTP listener with the guards that every listener needs. Only this file makes HTTP servers, and a
 * test attacks each address that the program listens on.
 *
 *   connections         limited in total and from one address (`connections.ts`)
 *   time                for the head, for the whole request, and between requests
 *   heads               16 KB at most, or less
 *   pipelined requests  one after the other (`pipelined-requests.ts`); after `maxRequests` the
 *                       connection is closed
 *   bodies              asked for by their readers only (`unread-body.ts`), plain or chunked
 *                       (`transfer-codings.ts`)
 *   unreadable input    answered once, and the connection is closed (`unreadable-requests.ts`)
 *   answers             cut when a client takes nothing for 30 s (`stalled-answers.ts`)
 */
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { Core } from '../../core/core.ts'
import { type ConnectionLimits, type Connections, watchConnections } from './connections.ts'
import { createRequestPipelines } from './pipelined-requests.ts'
import { cutStalledAnswers } from './stalled-answers.ts'
import { refuseTransferCodings } from './transfer-codings.ts'
import { leaveBodiesToReaders } from './unread-body.ts'
import { refuseUnreadableRequests } from './unreadable-requests.ts'

export type Guards = {
  isTls: boolean
  connections: ConnectionLimits
  maxHeaderBytes: number
  headMs: number
  /** From the first octet of a request to the last one of its body. */
  requestMs: number
  keepAliveMs: number
  /** On one connection. */
  maxRequests: number
}

type GuardedServer = { server: Server; connections: Connections }

/** How often the times are checked, beside a tenth of the shortest one. */
const MAX_CHECK_MS = 2_000

export function createGuardedServer(
  deps: Pick<Core, 'now' | 'counters'>,
  guards: Guards,
  handle: RequestListener,
): GuardedServer {
  const handleKnown = refuseTransferCodings(deps, handle)
  const pipelines = createRequestPipelines(handleKnown, guards.maxRequests)
  const options = {
    // Node's own refusal of a request without a Host header would have no envelope.
    requireHostHeader: false,
    maxHeaderSize: guards.maxHeaderBytes,
    headersTimeout: guards.headMs,
    requestTimeout: guards.requestMs,
    keepAliveTimeout: guards.keepAliveMs,
    connectionsCheckingInterval: Math.min(MAX_CHECK_MS, guards.headMs / 10),
  }
  const server = guards.isTls
    ? createTlsServer({ ...options, handshakeTimeout: guards.headMs }, pipelines.listener)
    : createServer(options, pipelines.listener)
  leaveBodiesToReaders(server)
  pipelines.watch(server)
  refuseUnreadableRequests(server, deps, pipelines)
  cutStalledAnswers(server, () => deps.counters.add('pillarbox_http_answers_cut_total'))
  return { server, connections: watchConnections(server, guards.connections) }
}
