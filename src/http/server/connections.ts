/**
 * Limits the connections of a listener, in total and from one address. When a limit is reached, the
 * least recently used connection without a running request is closed for the new one; if all are
 * busy, the new one is refused. Also closes connections when the server stops.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup } from './client-address.ts'

export type Connections = {
  /**
   * Closes connections that wait for their client: those without a complete request, and those
   * whose response has begun.
   */
  cutWaiting(): void
  cutAll(): void
}

export type ConnectionLimits = {
  max: number
  maxPerAddress: number
  /** Connections of a proxy serve many clients and count towards the total only. */
  isProxy(address: string | undefined): boolean
  /** Called with a connection that exceeds a limit. */
  refuse(socket: Socket, isOfAddress: boolean): void
}

type Connection = { peer: string; socket: Socket; group: string; running: Set<ServerResponse> }

export function watchConnections(server: Server, limits: ConnectionLimits): Connections {
  // By peer, the least recently used first. Includes connections during their TLS handshake, which
  // Node does not list.
  const connections = new Map<string, Connection>()
  const counts = new Map<string, number>()
  /** Of the sockets that requests came from: with TLS these are others. */
  const ofSockets = new WeakMap<Socket, Connection>()

  server.on('connection', (socket: Socket) => {
    // The client has disconnected already.
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return
    }
    const peer = peerOf(socket)
    const group = addressGroup(socket.remoteAddress)
    connections.set(peer, { peer, socket, group, running: new Set() })
    counts.set(group, (counts.get(group) ?? 0) + 1)
    socket.once('close', () => forget(peer, socket))
    enforceLimits(socket, group)
  })
  server.on('request', ({ socket }, outgoing) => {
    const connection = ofSockets.get(socket) ?? connections.get(peerOf(socket))
    if (connection === undefined) return
    ofSockets.set(socket, connection)
    connection.running.add(outgoing)
    // Emitted once: a listener that removes itself costs each request more.
    outgoing.on('close', () => {
      connection.running.delete(outgoing)
      if (!connections.delete(connection.peer)) return
      connections.set(connection.peer, connection)
    })
  })

  function forget(peer: string, socket: Socket): void {
    const connection = connections.get(peer)
    if (connection?.socket !== socket) return
    connections.delete(peer)
    const left = (counts.get(connection.group) ?? 0) - 1
    if (left > 0) counts.set(connection.group, left)
    else counts.delete(connection.group)
  }

  function enforceLimits(socket: Socket, group: string): void {
    const isOfAddress =
      (counts.get(group) ?? 0) > limits.maxPerAddress && !limits.isProxy(socket.remoteAddress)
    if (!isOfAddress && connections.size <= limits.max) return
    const idle = findIdle(socket, isOfAddress ? group : undefined)
    if (idle === undefined) limits.refuse(socket, isOfAddress)
    else close(idle)
  }

  function findIdle(except: Socket, group: string | undefined): Socket | undefined {
    for (const { socket, running, group: own } of connections.values()) {
      const isCandidate = group === undefined || own === group
      if (isCandidate && running.size === 0 && socket !== except) return socket
    }
    return undefined
  }

  function close(socket: Socket): void {
    forget(peerOf(socket), socket)
    socket.destroy()
  }

  return {
    cutWaiting() {
      for (const { socket, running } of connections.values()) {
        if (![...running].some(isServerWorking)) socket.destroy()
      }
    },
    cutAll() {
      for (const { socket } of connections.values()) socket.destroy()
    },
  }
}

function isServerWorking({ req, headersSent }: ServerResponse): boolean {
  return req.complete && !headersSent
}

/**
 * Identifies an open connection: its TCP socket and the TLS socket on top of it have the same name.
 */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
