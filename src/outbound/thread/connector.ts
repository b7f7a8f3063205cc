/**
 * In a delivery thread: opens sessions with the settings of their lane, and can cut them all, or
 * one that nobody has greeted.
 */
import { createSecureContext } from 'node:tls'
import { now } from '../../clock.ts'
import type { PoolSettings, ThreadSettings } from '../protocol.ts'
import type { RelayOptions } from '../smtp/relay.ts'
import { createKnownReplies } from '../smtp/reply-parser.ts'
import { type OpenResult, openSession, type Session, type SessionOptions } from '../smtp/session.ts'
import type { OpenInput, TryDeps } from './try-task.ts'

export type Connector = Pick<TryDeps, 'open' | 'send'> & {
  isCut(): boolean
  /** Ends every transaction under way; its outcome says how far it came. Nothing opens after. */
  cut(): void
  /** Of the sessions to a site without a greeting the one that has waited longest. */
  cutSilent(site: string): void
}

/** `greeted`: a session with the site has had its greeting. */
export function createConnector(
  settings: ThreadSettings,
  greeted: (site: string) => void = () => undefined,
): Connector {
  const silent = new Set<{ site: string; cut: AbortController }>()
  const sessions = new Set<Session>()
  const secureContext = createSecureContext()
  const knownReplies = createKnownReplies()
  let isCut = false

  async function open(input: OpenInput): Promise<OpenResult> {
    // The thread ends: what waits here was not delivered and is given back by the main thread.
    if (isCut) return new Promise(() => undefined)
    const { site } = input.pool
    const opening = { site, cut: new AbortController() }
    silent.add(opening)
    const onGreeted = () => {
      silent.delete(opening)
      greeted(site)
    }
    const opened = await openFor(input, { onGreeted, cutSignal: opening.cut.signal })
    silent.delete(opening)
    if (opened.ok) keep(opened.session)
    return opened
  }

  async function openFor(
    input: OpenInput,
    watch: Required<Pick<SessionOptions, 'onGreeted' | 'cutSignal'>>,
  ): Promise<OpenResult> {
    const { pool, target, localAddress, isClear, beganAt, current } = input
    const { ehloName, timeouts } = settings
    const shared = {
      host: target.host,
      address: target.address,
      port: pool.port,
      ...(localAddress === undefined ? {} : { localAddress }),
      ehloName,
      timeouts,
      now,
      beganAt,
      current,
      ...watch,
    }
    if (pool.mode === 'relay') return openRelay(settings, shared)
    return openSession({
      ...shared,
      ownName: ownNameFor(pool, settings),
      starttls: isClear ? 'never' : 'opportunistic',
      secureContext,
      knownReplies,
    })
  }

  /** Those that are over are forgotten when another one comes. */
  function keep(session: Session): void {
    for (const other of sessions) if (!other.isOpen) sessions.delete(other)
    sessions.add(session)
    if (isCut) session.close()
  }

  return {
    open,
    send: (session, { recipient, reversePath }, { octets, needsSmtputf8 }, { beganAt, current }) =>
      session.send({
        reversePath,
        recipient,
        message: octets,
        needsSmtputf8: needsSmtputf8 || hasUtf8(recipient) || hasUtf8(reversePath),
        beganAt,
        current,
      }),
    isCut: () => isCut,
    cutSilent(site) {
      const [longest] = silent.values().filter((opening) => opening.site === site)
      longest?.cut.abort()
    },
    cut() {
      isCut = true
      for (const session of sessions) session.close()
    },
  }
}

/** What carries mail to a smarthost is read when there is one. */
async function openRelay(
  { relay }: ThreadSettings,
  shared: Omit<RelayOptions, 'tls' | 'username' | 'password'>,
): Promise<OpenResult> {
  if (relay === null) throw new TypeError('there is no smarthost to relay to')
  const { openRelaySession } = await import('../smtp/relay.ts')
  const { tls, username, password } = relay
  return openRelaySession({ ...shared, tls, username, password })
}

/** The sink and a smarthost on this machine may well bear our name. */
function ownNameFor({ mode, isOurs }: PoolSettings, { ehloName }: ThreadSettings): string | null {
  return mode === 'direct' && !isOurs ? ehloName : null
}

function hasUtf8(path: string): boolean {
  return /[^\x00-\x7f]/.test(path)
}
