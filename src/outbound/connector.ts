/** In a delivery thread: opens sessions with the settings of their lane, and can cut them all. */
import { createSecureContext } from 'node:tls'
import { now } from '../clock.ts'
import type { Lane, ThreadSettings } from './protocol.ts'
import { openRelaySession } from './smtp/relay.ts'
import { type OpenResult, openSession, type Session } from './smtp/session.ts'
import type { OpenInput, TryDeps } from './try-task.ts'

export type Connector = Pick<TryDeps, 'open' | 'send'> & {
  isCut(): boolean
  /** Ends every transaction under way; its outcome says how far it came. Nothing opens after. */
  cut(): void
}

export function createConnector(settings: ThreadSettings): Connector {
  const busy = new Set<Session>()
  const secureContext = createSecureContext()

  let isCut = false

  async function open(input: OpenInput): Promise<OpenResult> {
    const { lane, target, localAddress, isClear, beganAt } = input
    // The thread ends: what waits here was not delivered and is given back by the main thread.
    if (isCut) return new Promise(() => undefined)
    const { ehloName, relay, timeouts } = settings
    const shared = {
      host: target.host,
      address: target.address,
      port: lane.port,
      ...(localAddress === undefined ? {} : { localAddress }),
      ehloName,
      timeouts,
      now,
      beganAt,
    }
    if (lane.mode === 'relay') {
      if (relay === null) throw new TypeError('there is no smarthost to relay to')
      const { tls, username, password } = relay
      return openRelaySession({ ...shared, tls, username, password })
    }
    return openSession({
      ...shared,
      ownName: ownNameFor(lane, settings),
      starttls: isClear ? 'never' : 'opportunistic',
      secureContext,
    })
  }

  return {
    open,
    async send(session, { recipient, reversePath }, { bytes, needsSmtputf8 }, beganAt) {
      busy.add(session)
      try {
        return await session.send({
          reversePath,
          recipient,
          message: bytes,
          needsSmtputf8: needsSmtputf8 || hasUtf8(recipient) || hasUtf8(reversePath),
          beganAt,
        })
      } finally {
        busy.delete(session)
      }
    },
    isCut: () => isCut,
    cut() {
      isCut = true
      for (const session of busy) session.close()
    },
  }
}

/** The sink and a smarthost on this machine may well bear our name. */
function ownNameFor({ mode, isOurs }: Lane, { ehloName }: ThreadSettings): string | null {
  return mode === 'direct' && !isOurs ? ehloName : null
}

function hasUtf8(path: string): boolean {
  return /[^\x00-\x7f]/.test(path)
}
