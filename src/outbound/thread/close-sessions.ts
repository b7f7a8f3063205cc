/** In a delivery thread: ends sessions and frees their connections. */
import { describeError } from '../../base/errors.ts'
import type { Session } from '../smtp/session.ts'
import type { IdleSession, Pool, SitePools } from './site-pools.ts'

type CloseDeps = { warn(text: string): void }

/** Frees one connection. The server gets QUIT, and its reply is not awaited. */
export function closeConnection(deps: CloseDeps, site: SitePools, session: Session | null): void {
  site.open--
  if (session === null) return
  closeSession(session).catch((error: unknown) => {
    deps.warn(`a session could not be closed: ${describeError(error)}`)
  })
}

export async function closeSession(session: Session): Promise<void> {
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
