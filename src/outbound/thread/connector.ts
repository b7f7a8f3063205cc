/**
 * In a delivery thread: opens sessions with the settings of their pool. It can close all sessions, or
 * abort one that has no greeting yet.
 */
import { createSecureContext } from 'node:tls'
import { now } from '../../base/clock.ts'
import type { PoolSettings, ThreadSettings } from '../protocol.ts'
import { type OpenResult, openSession, type SessionOptions } from '../smtp/open-session.ts'
import { createKnownReplies } from '../smtp/reply-parser.ts'
import { createPatientHosts, type SmtpSession } from '../smtp/session.ts'
import type { SmarthostOptions } from '../smtp/smarthost-connection.ts'
import type { OpenInput, TryDeps } from './try-task.ts'

type Connector = Pick<TryDeps, 'open'> & {
  /** Ends all transactions; their outcomes show how far they got. Opens no sessions afterwards. */
  cut(): void
  /** Ends the site's session that has waited longest for a greeting. */
  cutSilent(site: string): void
}

/** `greeted`: called when a session with the site is greeted. */
export function createConnector(
  settings: ThreadSettings,
  greeted: (site: string) => void = () => undefined,
): Connector {
  const ungreeted = new Set<{ site: string; cut: AbortController }>()
  const sessions = new Set<SmtpSession>()
  const secureContext = createSecureContext()
  const knownReplies = createKnownReplies()
  const patientHosts = createPatientHosts()
  let isCut = false

  async function open(input: OpenInput): Promise<OpenResult> {
    // The thread is ending. The main thread puts back the tasks that wait here.
    if (isCut) return new Promise(() => undefined)
    const { site } = input.pool
    const opening = { site, cut: new AbortController() }
    ungreeted.add(opening)
    const onGreeted = () => {
      ungreeted.delete(opening)
      greeted(site)
    }
    const opened = await openFor(input, { onGreeted, cutSignal: opening.cut.signal })
    ungreeted.delete(opening)
    if (opened.ok) addSession(opened.session)
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
    if (pool.mode === 'relay') return openRelayed(settings, shared)
    return openSession({
      ...shared,
      ownName: ownNameFor(pool, settings),
      starttls: isClear ? 'never' : 'opportunistic',
      secureContext,
      knownReplies,
      patientHosts,
    })
  }

  /** Adds a session for `cut`, and removes those that have ended. */
  function addSession(session: SmtpSession): void {
    for (const other of sessions) if (!other.isOpen) sessions.delete(other)
    sessions.add(session)
    if (isCut) session.close()
  }

  return {
    open,
    cutSilent(site) {
      const [longest] = ungreeted.values().filter((opening) => opening.site === site)
      longest?.cut.abort()
    },
    cut() {
      isCut = true
      for (const session of sessions) session.close()
    },
  }
}

/** Loads the code for the smarthost when it is first needed. */
async function openRelayed(
  { relay }: ThreadSettings,
  shared: Omit<SmarthostOptions, 'tls' | 'username' | 'password'>,
): Promise<OpenResult> {
  if (relay === null) throw new TypeError('there is no smarthost to relay to')
  const { openSmarthostSession } = await import('../smtp/smarthost-session.ts')
  const { tls, username, password } = relay
  return openSmarthostSession({ ...shared, tls, username, password })
}

/** Returns null if the server may have the name of this server: the sandbox's sink, or a smarthost. */
function ownNameFor(
  { mode, isReceivedHere }: PoolSettings,
  { ehloName }: ThreadSettings,
): string | null {
  return mode === 'direct' && !isReceivedHere ? ehloName : null
}
