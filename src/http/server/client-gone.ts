/** Work that is worth doing only while the client waits for it. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { clientLeft, type WaitingClient } from '../../turns/owner.ts'

/** A request with its response. */
type ClientExchange = {
  incoming: Pick<IncomingMessage, 'socket'>
  outgoing: Pick<ServerResponse, 'writableFinished'>
}

/**
 * Returns the client of a request, by which work that waits for its turn learns that the client has
 * left.
 */
export function waitingClient({ incoming, outgoing }: ClientExchange): WaitingClient {
  const { socket } = incoming
  /** The set is made with the first work that waits, because most requests have none. */
  let waiting: Set<() => void> | undefined
  /** The socket has one listener, however much work of the request waits. */
  const leave = (): void => {
    for (const act of [...(waiting ?? [])]) act()
    waiting?.clear()
  }
  return {
    hasLeft: () => socket.destroyed && !outgoing.writableFinished,
    onLeave(act) {
      waiting ??= new Set()
      const acts = waiting
      if (acts.size === 0) socket.once('close', leave)
      acts.add(act)
      return () => {
        acts.delete(act)
        if (acts.size === 0) socket.off('close', leave)
      }
    },
  }
}

/** Runs `act` with a signal that aborts when the connection of the request closes. */
export async function whileClientWaits<T>(
  { socket }: Pick<IncomingMessage, 'socket'>,
  act: (gone: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController()
  const abort = () => gone.abort(clientLeft())
  if (socket.destroyed) abort()
  socket.once('close', abort)
  try {
    return await act(gone.signal)
  } finally {
    socket.off('close', abort)
  }
}
