/**
 * Limits the connections of a listener, in total and from one address. When a limit is reached, the
 * least recently used connection without a running request is closed for the new one; if all are
 * busy, the new one is refused. Also closes connections when the server stops, and those whose client
 * takes nothing of its answer.
 */

import { readFile, readlink } from 'node:fs/promises'
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { SECOND_MS } from '../../base/clock.ts'
import { createKeyPlaces } from '../../turns/key-places.ts'
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

/** `leave`: frees the connection's place among those of its address. */
type Connection = {
  peer: string
  socket: Socket
  group: string
  running: Set<ServerResponse>
  leave: () => void
}

const LOOK_MS = 5 * SECOND_MS
/** A connection is cut after this many looks without progress. */
const MAX_LOOKS = 6

/** The fields of the handle below a socket that are read here; Node's own socket timeouts read them too. */
type Handle = { bytesWritten: number; writeQueueSize: number; fd?: number }

/**
 * `keptBytes`: octets that the kernel has taken. `takenBytes`: octets that the client has acknowledged;
 * undefined while the kernel takes more from look to look.
 */
type Stall = { keptBytes: number; takenBytes?: number; looks: number }

const TABLES = ['/proc/self/net/tcp', '/proc/self/net/tcp6']

export function watchConnections(server: Server, limits: ConnectionLimits): Connections {
  // The open connections by peer, the least recently used first. Includes connections during their
  // TLS handshake, which Node does not list.
  const connections = new Map<string, Connection>()
  const places = createKeyPlaces({ perKey: limits.maxPerAddress })
  /** Connections by the socket of their requests. With TLS this is not the TCP socket. */
  const ofSockets = new WeakMap<Socket, Connection>()

  server.on('connection', (socket: Socket) => {
    // The client has disconnected already.
    if (socket.remoteAddress === undefined) {
      socket.destroy()
      return
    }
    const peer = peerOf(socket)
    const group = addressGroup(socket.remoteAddress)
    const isOfAddress = places.isKeyFull(group) && !limits.isProxy(socket.remoteAddress)
    const leave = places.take(group)
    connections.set(peer, { peer, socket, group, running: new Set(), leave })
    socket.once('close', () => forget(peer, socket))
    enforceLimits(socket, isOfAddress ? group : undefined)
  })
  server.on('request', ({ socket }, outgoing) => {
    const connection = ofSockets.get(socket) ?? connections.get(peerOf(socket))
    if (connection === undefined) return
    ofSockets.set(socket, connection)
    connection.running.add(outgoing)
    // `on` is enough, because the event comes only once: a listener that removes itself costs each
    // request more.
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
    connection.leave()
  }

  /** `group`: the address whose limit is exceeded; undefined if only the total may be. */
  function enforceLimits(socket: Socket, group: string | undefined): void {
    if (group === undefined && connections.size <= limits.max) return
    const idle = findIdle(socket, group)
    if (idle === undefined) limits.refuse(socket, group !== undefined)
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
 * Returns the name of an open connection. The TCP socket and the TLS socket on top of it have the
 * same name.
 */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/**
 * Cuts connections whose client takes nothing of an answer for half a minute, because the answer holds
 * memory meanwhile. A client that takes little is served. The kernel takes octets from this process in steps
 * of up to a megabyte; on a connection without such a step, the octets that the client has acknowledged
 * count (`findUnsentOctets`). Both numbers are known for the TCP socket, also below TLS.
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

/** The handle of a connection whose octets wait for the kernel; undefined if none wait. */
function waitingHandle(socket: Socket): Handle | undefined {
  const { _handle: handle } = socket as Socket & { _handle?: Handle | null }
  return handle && handle.writeQueueSize > 0 ? handle : undefined
}

/** Bytes that the kernel has taken. */
function keptBytesOf({ bytesWritten, writeQueueSize }: Handle): number {
  return bytesWritten - writeQueueSize
}

/**
 * Finds the octets of connections that the kernel took from this process and that the peer has not
 * acknowledged, by the number of the open file. Linux lists them by the inode of the socket
 * (proc_pid_net(5): tx_queue); on other systems the result is empty.
 */
export async function findUnsentOctets(files: readonly number[]): Promise<Map<number, number>> {
  const byInode = new Map<string, number>()
  for (const file of files) {
    const target = await readlink(`/proc/self/fd/${file}`).catch(() => '')
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? []
    if (inode !== undefined) byInode.set(inode, file)
  }
  const unsent = new Map<number, number>()
  for (const table of byInode.size === 0 ? [] : TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '')
    for (const line of text.split('\n')) {
      const [, , , , queues = '', , , , , inode = ''] = line.trim().split(/ +/)
      const file = byInode.get(inode)
      if (file !== undefined) unsent.set(file, Number.parseInt(queues, 16))
    }
  }
  return unsent
}
