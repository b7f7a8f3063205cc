/**
 * The connections of a listener: how many there may be, in all and from one address, and whom a
 * stop waits for. Where there are too many, the one without a request in hand that was used least
 * lately is closed for the new one; where all are busy, the new one is refused.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup } from './client-address.ts'

export type Connections = {
  /**
   * Breaks off those that wait for their clients: whose request has not come whole, or whose
   * response has begun.
   */
  cutWaiting(): void
  cutAll(): void
}

export type ConnectionLimits = {
  max: number
  maxPerAddress: number
  /** Whose connections are many people's: they count in all only. */
  isProxy(address: string | undefined): boolean
  /** Is given a connection that is one too many. */
  refuse(socket: Socket, isOfAddress: boolean): void
}

type Connection = { socket: Socket; group: string; inHand: Set<ServerResponse> }

export function watchConnections(server: Server, limits: ConnectionLimits): Connections {
  // By peer, the least lately used first. Below TLS, where its handshake is not over yet: nobody
  // else knows of those.
  const connections = new Map<string, Connection>()
  const counts = new Map<string, number>()

  server.on('connection', (socket: Socket) => {
    // Gone again already.
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return
    }
    const peer = peerOf(socket)
    const group = addressGroup(socket.remoteAddress)
    connections.set(peer, { socket, group, inHand: new Set() })
    counts.set(group, (counts.get(group) ?? 0) + 1)
    socket.once('close', () => forget(peer, socket))
    makeRoom(socket, group)
  })
  server.on('request', (incoming, outgoing) => {
    const peer = peerOf(incoming.socket)
    const connection = connections.get(peer)
    if (connection === undefined) return
    connection.inHand.add(outgoing)
    outgoing.once('close', () => {
      connection.inHand.delete(outgoing)
      if (!connections.delete(peer)) return
      connections.set(peer, connection)
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

  function makeRoom(socket: Socket, group: string): void {
    const isOfAddress =
      (counts.get(group) ?? 0) > limits.maxPerAddress && !limits.isProxy(socket.remoteAddress)
    if (!isOfAddress && connections.size <= limits.max) return
    const idle = findIdle(socket, isOfAddress ? group : undefined)
    if (idle === undefined) limits.refuse(socket, isOfAddress)
    else close(idle)
  }

  function findIdle(except: Socket, group: string | undefined): Socket | undefined {
    for (const { socket, inHand, group: own } of connections.values()) {
      const isCandidate = group === undefined || own === group
      if (isCandidate && inHand.size === 0 && socket !== except) return socket
    }
    return undefined
  }

  function close(socket: Socket): void {
    forget(peerOf(socket), socket)
    socket.destroy()
  }

  return {
    cutWaiting() {
      for (const { socket, inHand } of connections.values()) {
        if (![...inHand].some(isOurTurn)) socket.destroy()
      }
    },
    cutAll() {
      for (const { socket } of connections.values()) socket.destroy()
    },
  }
}

function isOurTurn({ req, headersSent }: ServerResponse): boolean {
  return req.complete && !headersSent
}

/** Names a connection as long as it lasts, also above TLS. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
