/** Logging out: ends the session of a cookie. */
import type { Base } from '../../../ground/base.ts'
import { endPresented, readPresented } from '../sessions/sessions.ts'
import type { SessionTokens } from '../sessions/token.ts'

/** Does nothing if the cookie is of no session. */
export async function logOut(
  deps: Pick<Base, 'store'> & { sessionTokens: SessionTokens },
  cookie: string | undefined,
): Promise<void> {
  const id = await readPresented(deps, cookie)
  if (id !== undefined) await deps.store.write((tx) => endPresented(tx, id))
}
