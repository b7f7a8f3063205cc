/** The sessions of a user: listing, ending, and logging out. */
import { formatInstant } from '../../../../base/clock.ts'
import { notFound } from '../../../../base/errors.ts'
import type { SessionRecord } from '../../../../records/session.ts'
import { and, desc, eq, gt } from '../../../../store/drizzle.ts'
import { type LoginSession, sessions } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { endPresented, endSession, MAX_LOGIN_SESSIONS, readPresented } from './sessions.ts'
import type { SessionTokens } from './token.ts'

/** Newest first, without those that have expired. */
export async function listSessions(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { userId, currentId }: { userId: string; currentId: string },
): Promise<SessionRecord[]> {
  const rows = await store.read
    .select()
    .from(sessions)
    .where(and(eq(sessions.userId, userId), gt(sessions.expiresAt, now())))
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
    .limit(MAX_LOGIN_SESSIONS)
  return rows.map((row) => toRecord(row, currentId))
}

/** @throws AppError RESOURCE_NOT_FOUND, also for a session of another user */
export async function endOwnSession(
  { store }: Pick<Base, 'store'>,
  session: { userId: string; id: string },
): Promise<void> {
  const isEnded = await store.write((tx) => endSession(tx, session))
  if (!isEnded) throw notFound('session', session.id, 'You have no session with this id.')
}

/** Ends the session of a cookie. Does nothing if the cookie belongs to no session. */
export async function logOut(
  deps: Pick<Base, 'store'> & { sessionTokens: SessionTokens },
  cookie: string | undefined,
): Promise<void> {
  const id = await readPresented(deps, cookie)
  if (id !== undefined) await deps.store.write((tx) => endPresented(tx, id))
}

function toRecord(session: LoginSession, currentId: string): SessionRecord {
  const { id, createdAt, lastUsedAt, expiresAt, ip, userAgent } = session
  return {
    id,
    current: id === currentId,
    createdAt: formatInstant(createdAt),
    lastUsedAt: formatInstant(lastUsedAt),
    expiresAt: formatInstant(expiresAt),
    ip,
    userAgent,
  }
}
