/**
 * Cuts connections whose client takes nothing of an answer for half a minute, because the answer holds
 * memory meanwhile. The kernel takes what the client has room for; how much of it is known for the TCP
 * socket only, also below TLS. A client that takes little, but something, is served.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../../clock.ts'

const LOOK_MS = 5 * SECOND_MS
/** Looks without progress after which a connection is cut. */
const MAX_LOOKS = 6

/** Of the handle below a socket, which Node's own timeouts of sockets read too. */
type Handle = { bytesWritten: number; writeQueueSize: number }
type Stall = { takenBytes: number; looks: number }

/** Watches the connections of a server until it closes; `onCut` is called once for each that was cut. */
export function cutStalledAnswers(server: Server, onCut: () => void): void {
  const stalls = new Map<Socket, Stall | undefined>()

  function look(socket: Socket, stall: Stall | undefined): void {
    const takenBytes = findTakenBytes(socket)
    if (takenBytes === undefined) {
      stalls.set(socket, undefined)
      return
    }
    const looks = stall?.takenBytes === takenBytes ? stall.looks + 1 : 0
    stalls.set(socket, { takenBytes, looks })
    if (looks < MAX_LOOKS) return
    onCut()
    socket.destroy()
  }

  server.on('connection', (socket: Socket) => {
    stalls.set(socket, undefined)
    socket.once('close', () => stalls.delete(socket))
  })
  const looking = setInterval(() => {
    for (const [socket, stall] of stalls) look(socket, stall)
  }, LOOK_MS)
  looking.unref()
  server.once('close', () => clearInterval(looking))
}

/** Bytes that the kernel has taken; undefined when none are left for it. */
function findTakenBytes(socket: Socket): number | undefined {
  const { _handle: handle } = socket as Socket & { _handle?: Handle | null }
  if (!handle || handle.writeQueueSize === 0) return undefined
  return handle.bytesWritten - handle.writeQueueSize
}
