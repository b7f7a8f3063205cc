/** The connections of a listener, told apart by who is waited for when it stops: them, or us. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export type Connections = {
  /**
   * Breaks off those that wait for their clients: whose request has not come whole, or whose
   * response has begun.
   */
  cutWaiting(): void
  cutAll(): void
}

export function watchConnections(server: Server): Connections {
  // Below TLS, where its handshake is not over yet: nobody else knows of those.
  const sockets = new Map<Socket, string>()
  const responses = new Set<ServerResponse>()
  server.on('connection', (socket: Socket) => {
    sockets.set(socket, peerOf(socket))
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('request', (_incoming, outgoing) => {
    responses.add(outgoing)
    outgoing.once('close', () => responses.delete(outgoing))
  })

  return {
    cutWaiting() {
      const working = [...responses].filter((outgoing) => isOurTurn(outgoing))
      const kept = new Set(working.map(({ req }) => peerOf(req.socket)))
      for (const [socket, peer] of sockets) if (!kept.has(peer)) socket.destroy()
    },
    cutAll() {
      for (const socket of sockets.keys()) socket.destroy()
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
