/**
 * Limits the connections to a listener with implicit TLS. During the handshake there is no session yet
 * that `sessions.ts` could count. Open connections are counted, not attempts as in `work/limiter.ts`.
 */
import type { Server, Socket } from 'node:net'
import { peerOf } from './sessions.ts'

/** Closes connections beyond the limit of one address or IPv6 network without a reply. */
export function limitHandshakes(listener: Server, connectionsPerAddress: number): void {
  const counts = new Map<string, number>()
  const [accept] = listener.listeners('connection')
  listener.removeAllListeners('connection')
  listener.on('connection', (socket: Socket) => {
    const peer = peerOf(socket.remoteAddress ?? '')
    const count = counts.get(peer) ?? 0
    if (count >= connectionsPerAddress) {
      socket.destroy()
      return
    }
    counts.set(peer, count + 1)
    socket.once('close', () => leave(counts, peer))
    accept?.call(listener, socket)
  })
}

function leave(counts: Map<string, number>, peer: string): void {
  const left = (counts.get(peer) ?? 1) - 1
  if (left === 0) counts.delete(peer)
  else counts.set(peer, left)
}
