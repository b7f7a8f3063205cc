/** Logging out: ends the session of a cookie. */
import { eq } from '../../../store/drizzle.ts'
import { sessions } from '../../../store/schema/accounts.ts'
import type { Base } from '../../base.ts'
import type { SessionTokens } from '../sessions/token.ts'

/** Does nothing if the cookie is of no session. */
export async function logOut(
  { store, sessionTokens }: Pick<Base, 'store'> & { sessionTokens: SessionTokens },
  cookie: string | undefined,
): Promise<void> {
  const id = cookie === undefined ? undefined : await sessionTokens.read('session', cookie)
  if (id === undefined) return
  await store.write((tx) => tx.delete(sessions).where(eq(sessions.id, id)))
}
