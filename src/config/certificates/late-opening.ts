/**
 * Listeners that open with the first certificate. Their address is bound for a moment at the start: an
 * address in use stops the start, as it does for other listeners. If another program takes the address
 * later, opening is tried until it works; the log says so once.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { SECOND_MS } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { ListenAddress } from '../config.ts'
import { formatListenAddress } from '../values/listen-address.ts'

export type LateOpening = {
  /** Resolves when the listener is open, or after `stop`. */
  opened: Promise<void>
  stop(): void
}

const AGAIN_MS = 5 * SECOND_MS

/** Returns the address with a free port in place of 0. @throws Error if it cannot be bound */
export async function reserveAddress(address: ListenAddress): Promise<ListenAddress> {
  const server = createServer().listen(address.port, address.host)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return { ...address, port }
}

type Deps = { log: Log; againMs?: number }

export function openLate(
  { log, againMs = AGAIN_MS }: Deps,
  address: ListenAddress,
  open: () => Promise<unknown>,
): LateOpening {
  const { promise: opened, resolve } = Promise.withResolvers<void>()
  const shown = formatListenAddress(address)
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isFailureLogged = false

  function tryNow(): void {
    open().then(
      () => {
        if (isStopped) return
        log.info({ address: shown }, 'a listener has opened with its first certificate')
        resolve()
      },
      (error: unknown) => {
        if (isStopped) return
        if (!isFailureLogged) {
          isFailureLogged = true
          log.error({ error, address: shown }, 'a listener cannot open; it is tried again')
        }
        timer = setTimeout(tryNow, againMs).unref()
      },
    )
  }

  tryNow()
  return {
    opened,
    stop() {
      isStopped = true
      clearTimeout(timer)
      resolve()
    },
  }
}
