/** What users see of themselves. */
import type { UserRecord } from '../../../../records/user.ts'
import { eq } from '../../../../store/drizzle.ts'
import { type User, users } from '../../../../store/schema/accounts.ts'
import type { AccountMethod } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { noSession } from '../callers/admit.ts'
import { hasSecondFactor } from '../second-factor/code.ts'
import { boundProjectOf, isProven } from '../users/proof.ts'

/** The methods by the names that clients of this API family know. */
const METHOD_NAMES = {
  PASSWORD: 'PASSWORD',
  GITHUB: 'GITHUB_OAUTH',
  GOOGLE: 'GOOGLE_OAUTH',
  OIDC: 'OIDC',
} as const satisfies Record<AccountMethod, UserRecord['method']>

/** @throws AppError UNAUTHORIZED when the user was deleted meanwhile */
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
