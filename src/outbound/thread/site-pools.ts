/** In a delivery thread: the connection pools of a site, their order, and the end of their sessions. */

import { describeError } from '../../base/errors.ts'
import type { ClassQueue } from '../class-queue.ts'
import type { PoolSettings, SmtpTask } from '../protocol.ts'
import type { SmtpSession } from '../smtp/session.ts'

export type Pool = {
  pool: PoolSettings
  waiting: ClassQueue<SmtpTask>
  idle: IdleSession[]
  runners: number
}

type IdleSession = { session: SmtpSession; since: number }

export type SitePools = {
  site: string
  allowed: number
  /** A lower allocation has not yet taken effect. */
  isLowering: boolean
  hasGreeted: boolean
  open: number
  pools: Map<string, Pool>
}

type CloseDeps = { warn(text: string): void }

/** Returns the pools with waiting tasks: the most urgent first, equal ones in order. */
export function byUrgency(site: SitePools): Pool[] {
  const busy = [...site.pools.values()].filter(({ waiting }) => waiting.size() > 0)
  const rank = ({ waiting }: Pool) => waiting.peek()?.queueClass ?? 0
  return busy.length < 2 ? busy : busy.sort((left, right) => rank(left) - rank(right))
}

/** Whether the pools that wait with more urgent mail outnumber the free connections. */
export function isOutranked(site: SitePools, state: Pool): boolean {
  const own = state.waiting.peek()
  if (own === undefined || site.pools.size === 1) return false
  let connections = Math.max(0, site.allowed - site.open)
  for (const other of site.pools.values()) {
    const first = other === state ? undefined : other.waiting.peek()
    if (first !== undefined && first.queueClass < own.queueClass) connections--
  }
  return connections < 0
}

/** Puts a pool behind the others if any of them has waiting tasks. Returns whether it did. */
export function moveToEnd(site: SitePools, state: Pool): boolean {
  const isAlone = [...site.pools.values()].every(
    (other) => other === state || other.waiting.size() === 0,
  )
  if (isAlone) return false
  site.pools.delete(state.pool.key)
  site.pools.set(state.pool.key, state)
  return true
}

/** Frees one connection. The server gets QUIT, and its reply is not awaited. */
export function closeConnection(
  deps: CloseDeps,
  site: SitePools,
  session: SmtpSession | null,
): void {
  site.open--
  if (session === null) return
  closeSession(session).catch((error: unknown) => {
    deps.warn(`a session could not be closed: ${describeError(error)}`)
  })
}

export async function closeSession(session: SmtpSession): Promise<void> {
  if (session.isUsable) await session.quit()
  else session.close()
}

/**
 * Closes the session that has been idle for the longest time in the first pool that has one. Returns
 * false if there is none.
 */
export function closeOneIdle(deps: CloseDeps, site: SitePools): boolean {
  const pool = site.pools.values().find(({ idle }) => idle.length > 0)
  const oldest = pool?.idle.shift()
  if (oldest === undefined) return false
  closeConnection(deps, site, oldest.session)
  return true
}

/** Closes the sessions of a pool that were idle since `before`, epoch ms, or that have ended. */
export function closeOldIdle(
  deps: CloseDeps,
  { site, state, before }: { site: SitePools; state: Pool; before: number },
): void {
  const isOld = ({ session, since }: IdleSession) => since <= before || !session.isUsable
  const old = state.idle.filter(isOld)
  state.idle = state.idle.filter((idleSession) => !isOld(idleSession))
  for (const { session } of old) closeConnection(deps, site, session)
}
