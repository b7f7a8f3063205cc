/** Users about themselves: their record, the password, the language and the time zone. */
import type { UserRecord } from '../../../../records/user.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { type LoginSession, type User, users } from '../../../../store/schema/accounts.ts'
import type { AccountMethod } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { noSession } from '../callers/admit.ts'
import { type GivenPassword, placeOfUser, withPassword } from '../login/confirm-password.ts'
import { issueDevice } from '../login/device.ts'
import type { LoginDeps } from '../login/log-in.ts'
import { hashPassword } from '../passwords/passwords.ts'
import { hasSecondFactor } from '../second-factor/code.ts'
import { endAccess } from '../sessions/end-access.ts'
import { issueCookie, type SessionCookie } from '../sessions/sessions.ts'
import { boundProjectOf, isProven } from './proof.ts'

/** The methods by the names that clients of this API family know. */
const METHOD_NAMES = {
  PASSWORD: 'PASSWORD',
  GITHUB: 'GITHUB_OAUTH',
  GOOGLE: 'GOOGLE_OAUTH',
  OIDC: 'OIDC',
} as const satisfies Record<AccountMethod, UserRecord['method']>

type Preferences = { language?: string | undefined; timezone?: string | undefined }

/** The record of a user. @throws AppError UNAUTHORIZED when the user was deleted meanwhile */
export async function describeSelf(
  { store }: Pick<Base, 'store'>,
  userId: string,
): Promise<UserRecord> {
  const user = await store.read.select().from(users).where(eq(users.id, userId)).get()
  if (user === undefined) throw noSession()
  return toUserRecord(user)
}

export function toUserRecord(user: User): UserRecord {
  const { id, address, isOperator, method, language, timezone } = user
  return {
    id,
    email: address,
    isOperator,
    emailVerified: isProven(user),
    onlyProjectId: boundProjectOf(user),
    method: METHOD_NAMES[method],
    twoFactor: hasSecondFactor(user),
    language,
    timezone,
  }
}

/**
 * Changes the password of a user. All other sessions end, and this one gets a new cookie. The
 * browser gets one too (`login/device.ts`): the user knows the new password there.
 * @throws AppError as `withPassword`
 */
export async function changePassword(
  deps: LoginDeps,
  given: GivenPassword & { newPassword: string; session: Pick<LoginSession, 'id'> },
): Promise<{ user: UserRecord; session: SessionCookie; device: SessionCookie }> {
  return withPassword(deps, given, async (confirmed) => {
    const placed = await placeOfUser(deps, confirmed, given)
    const hash = () => hashPassword(given.newPassword, placed.signal)
    const passwordHash = await deps.loginQueue.run(hash, placed)
    const at = deps.now()
    const isUnchanged = and(
      eq(users.id, confirmed.id),
      eq(users.passwordHash, confirmed.passwordHash),
    )
    const { user, session } = await deps.store.write(async (tx) => {
      const [user] = await tx
        .update(users)
        .set({ passwordHash, isSandbox: false, updatedAt: at })
        .where(isUnchanged)
        .returning()
      const session = user && (await endAccess(tx, { userId: user.id, at }, given.session))
      // Another change of the password was faster, and has ended this session.
      if (user === undefined || session === undefined) throw noSession()
      return { user, session }
    })
    return {
      user: toUserRecord(user),
      session: await issueCookie(deps, session),
      device: await issueDevice(deps, { id: user.id, passwordHash }),
    }
  })
}

/** @throws AppError UNAUTHORIZED when the user was deleted meanwhile */
export async function updatePreferences(
  { store, now }: Pick<LoginDeps, 'store' | 'now'>,
  userId: string,
  { language, timezone }: Preferences,
): Promise<UserRecord> {
  const change = { ...(language && { language }), ...(timezone && { timezone }), updatedAt: now() }
  const [user] = await store.write((tx) =>
    tx.update(users).set(change).where(eq(users.id, userId)).returning(),
  )
  if (user === undefined) throw noSession()
  return toUserRecord(user)
}
