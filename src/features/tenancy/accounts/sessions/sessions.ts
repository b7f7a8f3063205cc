/**
 * The sessions of users: beginning, renewing, listing and ending them. Each is a row; ending one deletes it. A
 * session lasts 7 days after its last use, to the day, and 30 days at most.
 */
import { randomUUID } from 'node:crypto'
import { DAY_MS, formatInstant } from '../../../../base/clock.ts'
import { notFound } from '../../../../base/errors.ts'
import type { SessionRecord } from '../../../../records/session.ts'
import { and, desc, eq, gt, ne, sql } from '../../../../store/drizzle.ts'
import { type LoginSession, sessions } from '../../../../store/schema/accounts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { oldRows, type Retention } from '../../../../work/retention.ts'
import type { Base } from '../../../ground/base.ts'
import { endTokens } from '../links/link-tokens.ts'
import type { SessionTokens } from './token.ts'

const IDLE_MS = 7 * DAY_MS
const MAX_MS = 30 * DAY_MS
/** The least time between two new cookies of a session. */
const RENEW_AFTER_MS = DAY_MS

export type SessionClient = { ip: string | null; userAgent: string | null }

/** The value of a session's cookie, and when the cookie expires (epoch ms). */
export type SessionCookie = { token: string; expiresAt: number }

type TokenDeps = { sessionTokens: SessionTokens }

const MAX_USER_AGENT = 500
/** The most sessions of one user. */
const MAX_LOGIN_SESSIONS = 500

/**
 * Ends the oldest sessions. The query reads the index only: up to the oldest session that stays, and
 * then the sessions that end.
 */
const endOldest = statement(
  () => sql`delete from sessions
    where user_id = ${parameter('userId')} and id <> ${parameter('id')} and (created_at, id) <
      (select created_at, id from sessions
        where user_id = ${parameter('userId')} and id <> ${parameter('id')}
        order by created_at desc, id desc limit 1 offset ${MAX_LOGIN_SESSIONS - 2})`,
)

/**
 * Begins a session in the caller's transaction, and ends the user's oldest ones beyond `MAX_LOGIN_SESSIONS`.
 * Sign its token with `issueCookie` afterwards.
 */
export async function insertSession(
  tx: Tx,
  { userId, client, at }: { userId: string; client: SessionClient; at: number },
): Promise<LoginSession> {
  const session: LoginSession = {
    // A random UUID, because the time in a UUIDv7 could be guessed.
    id: randomUUID(),
    userId,
    ip: client.ip,
    userAgent: client.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
    createdAt: at,
    issuedAt: at,
    lastUsedAt: at,
    expiresAt: expiryOf({ createdAt: at, issuedAt: at }),
  }
  await tx.insert(sessions).values(session)
  await tx.execute(endOldest, { userId, id: session.id })
  return session
}

export async function issueCookie(
  { sessionTokens }: TokenDeps,
  { id, expiresAt }: Pick<LoginSession, 'id' | 'expiresAt'>,
): Promise<SessionCookie> {
  return { token: await sessionTokens.sign('session', { id, expiresAt }), expiresAt }
}

/**
 * Makes a new cookie if one is due; else returns undefined. Of several requests at the same time,
 * one renews the cookie.
 */
export async function renewCookie(
  deps: Pick<Base, 'store' | 'now'> & TokenDeps,
  session: LoginSession,
): Promise<SessionCookie | undefined> {
  const at = deps.now()
  if (!isRenewalDue(session, at)) return undefined
  const expiresAt = expiryOf({ createdAt: session.createdAt, issuedAt: at })
  const isUnchanged = and(eq(sessions.id, session.id), eq(sessions.issuedAt, session.issuedAt))
  const [renewed] = await deps.store.write((tx) =>
    tx
      .update(sessions)
      .set({ issuedAt: at, expiresAt })
      .where(isUnchanged)
      .returning({ id: sessions.id }),
  )
  return renewed && issueCookie(deps, { id: renewed.id, expiresAt })
}

/**
 * Ends the session whose cookie a browser sends when a new session begins, whoever its user is: a
 * page of another site may have set the cookie (session fixation).
 */
export async function endPresented(tx: Tx, id: string | undefined): Promise<void> {
  if (id !== undefined) await tx.delete(sessions).where(eq(sessions.id, id))
}

/** Returns the id of the session in a cookie, if its token is valid. */
export async function readPresented(
  { sessionTokens }: TokenDeps,
  cookie: string | undefined,
): Promise<string | undefined> {
  return cookie === undefined ? undefined : sessionTokens.read('session', cookie)
}

/** Ends a session of the user; false if there is none with this id. */
export async function endSession(
  tx: Tx,
  { userId, id }: { userId: string; id: string },
): Promise<boolean> {
  const isGiven = and(eq(sessions.id, id), eq(sessions.userId, userId))
  const ended = await tx.delete(sessions).where(isGiven).returning({ id: sessions.id })
  return ended.length > 0
}

/**
 * Ends all sessions of the user but `except`, which gets a new id, so that a copy of its cookie no
 * longer works. Returns that session with its new id; undefined if it has ended.
 */
export async function endSessions(
  tx: Tx,
  userId: string,
  except?: Pick<LoginSession, 'id'>,
): Promise<LoginSession | undefined> {
  const isUsers = eq(sessions.userId, userId)
  if (except === undefined) {
    await tx.delete(sessions).where(isUsers)
    return undefined
  }
  await tx.delete(sessions).where(and(isUsers, ne(sessions.id, except.id)))
  const [renamed] = await tx
    .update(sessions)
    .set({ id: randomUUID() })
    .where(and(isUsers, eq(sessions.id, except.id)))
    .returning()
  return renamed
}

/**
 * Ends what a change or reset of the password, or a change of the second factor, must end (THREATS
 * S16): all sessions of the user but `except`, and the links to reset the password. Returns the
 * session `except` with its new id; undefined if it has ended.
 */
export async function endAccess(
  tx: Tx,
  { userId, at }: { userId: string; at: number },
  except?: Pick<LoginSession, 'id'>,
): Promise<LoginSession | undefined> {
  await endTokens(tx, { userId, purpose: 'reset-password', at })
  return endSessions(tx, userId, except)
}

/** Lists the sessions of the user that have not expired, newest first. */
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

/**
 * Ends one of the user's sessions.
 * @throws AppError RESOURCE_NOT_FOUND, also for a session of another user
 */
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

function expiryOf({ createdAt, issuedAt }: Pick<LoginSession, 'createdAt' | 'issuedAt'>): number {
  return Math.min(issuedAt + IDLE_MS, createdAt + MAX_MS)
}

/**
 * Whether the cookie is old enough to be renewed, and the session may expire later than the cookie.
 */
function isRenewalDue(
  session: Pick<LoginSession, 'createdAt' | 'issuedAt' | 'expiresAt'>,
  at: number,
): boolean {
  const { createdAt, issuedAt, expiresAt } = session
  return at - issuedAt >= RENEW_AFTER_MS && expiryOf({ createdAt, issuedAt: at }) > expiresAt
}

/** Deletes sessions and tokens of mailed links that have expired. */
export const SESSIONS: Retention = {
  name: 'delete-expired-sessions',
  schedule: '37 * * * *',
  keptMs: 0,
  deletions: [
    oldRows({ table: 'sessions', key: 'id', column: 'expires_at', index: 'sessions_expiry' }),
    oldRows({
      ...{ table: 'account_tokens', key: 'digest', column: 'expires_at' },
      index: 'account_tokens_expiry',
    }),
  ],
  // A batch is small enough that a request waits only some milliseconds for it.
  pace: { rows: 500, rest: 'none' },
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
