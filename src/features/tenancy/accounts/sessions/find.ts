/**
 * Finds the session of a cookie, with its user and the user's present role in a project. One query
 * does so, because every request of a session makes it.
 */
import { and, eq } from '../../../../store/drizzle.ts'
import {
  type LoginSession,
  memberships,
  sessions,
  users,
} from '../../../../store/schema/accounts.ts'
import type { Role } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import type { SessionUser } from '../callers/caller.ts'
import type { SessionTokens } from './token.ts'

type FindDeps = Pick<Base, 'store' | 'config' | 'now'> & { sessionTokens: SessionTokens }

const findById = statement((db) =>
  db
    .select({
      session: sessions,
      user: {
        id: users.id,
        address: users.address,
        method: users.method,
        isOperator: users.isOperator,
        isSandbox: users.isSandbox,
        verifiedAt: users.verifiedAt,
        onlyProjectId: users.onlyProjectId,
        language: users.language,
        timezone: users.timezone,
      },
      role: memberships.role,
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .leftJoin(
      memberships,
      and(
        eq(memberships.userId, sessions.userId),
        eq(memberships.projectId, parameter('projectId')),
      ),
    )
    .where(eq(sessions.id, parameter('id'))),
)

/**
 * `role`: the role in the given project; null if the user is no member, or if no project is given.
 */
type FoundSession = { session: LoginSession; user: SessionUser; role: Role | null }

/**
 * Undefined for a forged or expired token, for an ended session, and in other modes for the
 * sandbox's user.
 */
export async function findSession(
  { store, config, now, sessionTokens }: FindDeps,
  cookie: string,
  projectId = '',
): Promise<FoundSession | undefined> {
  const id = await sessionTokens.read('session', cookie)
  if (id === undefined) return undefined
  const found = await store.read.find(findById, { id, projectId })
  if (found === undefined || found.session.expiresAt <= now()) return undefined
  if (found.user.isSandbox && config.delivery.mode !== 'sandbox') return undefined
  return found
}
