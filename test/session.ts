/** Users of tests, and their login sessions. */

import type { Core } from '../src/core/core.ts'
import { insertSession, issueCookie } from '../src/features/tenancy/accounts/sessions/sessions.ts'
import { insertUser } from '../src/features/tenancy/accounts/users/users.ts'
import { sessionCookieName } from '../src/http/exchange/cookies.ts'
import { eq } from '../src/store/drizzle.ts'
import { memberships, users } from '../src/store/schema/accounts.ts'
import type { Role } from '../src/store/schema/words.ts'

let userCount = 0

/** A verified user without a password, unless `change` says otherwise. */
export async function addUser(
  { store, now }: Pick<Core, 'store' | 'now'>,
  change: Partial<typeof users.$inferInsert> = {},
): Promise<{ id: string; address: string }> {
  userCount += 1
  const address = change.address ?? `user${userCount}@people.test`
  const at = now()
  const id = await store.write(async (tx) => {
    const user = { address, passwordHash: '', isSandbox: false, isProven: true, at }
    const made = await insertUser(tx, user)
    if (Object.keys(change).length > 0) {
      await tx.update(users).set(change).where(eq(users.id, made))
    }
    return made
  })
  return { id, address }
}

export async function addMember(
  { store, now }: Pick<Core, 'store' | 'now'>,
  { projectId, userId, role }: { projectId: string; userId: string; role: Role },
): Promise<void> {
  const times = { createdAt: now(), updatedAt: now() }
  await store.write((tx) => tx.insert(memberships).values({ projectId, userId, role, ...times }))
}

/** Begins a session; returns the value of the header Cookie. */
export async function logIn(
  core: Pick<Core, 'store' | 'now' | 'config' | 'sessionTokens'>,
  userId: string,
): Promise<string> {
  const client = { ip: '192.0.2.7', userAgent: 'test' }
  const session = await core.store.write((tx) =>
    insertSession(tx, { userId, client, at: core.now() }),
  )
  const { token } = await issueCookie(core, session)
  return `${sessionCookieName(core.config)}=${token}`
}
