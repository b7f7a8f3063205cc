/**
 * Cuts connections whose client takes nothing of an answer for half a minute, because the answer holds
 * memory meanwhile. A client that takes little, but something, is served: the kernel takes more from this
 * process in steps of up to a megabyte, so of a connection without such a step the octets count that the
 * client has acknowledged (`unsent-octets.ts`). Both are known for the TCP socket, also below TLS.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../../base/clock.ts'
import { findUnsentOctets } from './unsent-octets.ts'

const LOOK_MS = 5 * SECOND_MS
/** Looks without progress after which a connection is cut. */
const MAX_LOOKS = 6

/** Of the handle below a socket, which Node's own timeouts of sockets read too. */
type Handle = { bytesWritten: number; writeQueueSize: number; fd?: number }
/** `takenBytes`: by the client; undefined while the kernel takes some at each look. */
type Stall = { keptBytes: number; takenBytes?: number; looks: number }

/**
 * Watches the connections of a server until it closes; `onCut` is called once for each that was cut.
 * `findUnsent` is for tests.
 */
export function cutStalledAnswers(
  server: Server,
  onCut: () => void,
  findUnsent = findUnsentOctets,
): void {
  const stalls = new Map<Socket, Stall | undefined>()
  let isLooking = false

  /** Connections of which the kernel has taken nothing since the last look. */
  function findQuiet(): [Socket, Handle, Stall][] {
    const quiet: [Socket, Handle, Stall][] = []
    for (const [socket, stall] of stalls) {
      const handle = waitingHandle(socket)
      const keptBytes = handle && keptBytesOf(handle)
      if (handle && stall && stall.keptBytes === keptBytes) quiet.push([socket, handle, stall])
      else stalls.set(socket, keptBytes === undefined ? undefined : { keptBytes, looks: 0 })
    }
    return quiet
  }

  async function look(): Promise<void> {
    const quiet = findQuiet()
    if (quiet.length === 0) return
    const unsent = await findUnsent(quiet.flatMap(([, { fd }]) => fd ?? []))
    for (const [socket, { fd = -1 }, stall] of quiet) {
      if (!stalls.has(socket)) continue
      const takenBytes = stall.keptBytes - (unsent.get(fd) ?? 0)
      const looks = takenBytes === stall.takenBytes ? stall.looks + 1 : 0
      stalls.set(socket, { ...stall, takenBytes, looks })
      if (looks < MAX_LOOKS) continue
      onCut()
      socket.destroy()
    }
  }

  server.on('connection', (socket: Socket) => {
    stalls.set(socket, undefined)
    socket.once('close', () => stalls.delete(socket))
  })
  const looking = setInterval(() => {
    if (isLooking) return
    isLooking = true
    look().finally(() => {
      isLooking = false
    })
  }, LOOK_MS)
  looking.unref()
  server.once('close', () => clearInterval(looking))
}

/** The handle of a connection that has more for the kernel than it takes. */
function waitingHandle(socket: Socket): Handle | undefined {
  const { _handle: handle } = socket as Socket & { _handle?: Handle | null }
  return handle && handle.writeQueueSize > 0 ? handle : undefined
}

/** Bytes that the kernel has taken. */
function keptBytesOf({ bytesWritten, writeQueueSize }: Handle): number {
  return bytesWritten - writeQueueSize
}
