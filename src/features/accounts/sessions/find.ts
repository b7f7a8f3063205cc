/** Finds the session of a cookie, with its user as of now. */

import { eq } from '../../../store/drizzle.ts'
import type { Session } from '../../../store/schema/accounts.ts'
import { sessions, users } from '../../../store/schema/accounts.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import type { SessionUser } from '../caller.ts'
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
        language: users.language,
        timezone: users.timezone,
      },
    })
    .from(sessions)
    .innerJoin(users, eq(users.id, sessions.userId))
    .where(eq(sessions.id, parameter('id'))),
)

/** Undefined for a forged or expired token, an ended session, and the sandbox's user in other modes. */
export async function findSession(
  { store, config, now, sessionTokens }: FindDeps,
  cookie: string,
): Promise<{ session: Session; user: SessionUser } | undefined> {
  const id = await sessionTokens.read('session', cookie)
  if (id === undefined) return undefined
  const found = await store.read.find(findById, { id })
  if (found === undefined || found.session.expiresAt <= now()) return undefined
  if (found.user.isSandbox && config.delivery.mode !== 'sandbox') return undefined
  return found
}
