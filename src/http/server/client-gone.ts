/** Work that is worth doing only while the client waits for it. */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../errors.ts'
import type { WaitingClient } from '../../turns/owner.ts'

/** The client of a request, for work that waits for its turn. */
export function waitingClient({ socket }: Pick<IncomingMessage, 'socket'>): WaitingClient {
  return {
    hasLeft: () => socket.destroyed,
    onLeave(act) {
      socket.once('close', act)
      return () => socket.off('close', act)
    },
  }
}

/** Runs `act` with a signal that aborts when the connection of the request closes. */
export async function whileClientWaits<T>(
  { socket }: Pick<IncomingMessage, 'socket'>,
  act: (gone: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController()
  // Nobody reads this error: it only ends the request.
  const abort = () => gone.abort(new AppError('REQUEST_TIMEOUT', 'The client has disconnected.'))
  if (socket.destroyed) abort()
  socket.once('close', abort)
  try {
    return await act(gone.signal)
  } finally {
    socket.off('close', abort)
  }
}
