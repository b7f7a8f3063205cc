/** What users see of themselves. */
import { eq } from '../../../../store/drizzle.ts'
import { type User, users } from '../../../../store/schema/accounts.ts'
import type { AccountMethod } from '../../../../store/schema/words.ts'
import type { Base } from '../../../ground/base.ts'
import { noSession } from '../callers/admit.ts'
import { hasSecondFactor } from '../second-factor/code.ts'
import { boundProjectOf, isProven } from '../users/proof.ts'

/** The methods by the names that clients of this API family know. */
export const METHOD_NAMES = {
  PASSWORD: 'PASSWORD',
  GITHUB: 'GITHUB_OAUTH',
  GOOGLE: 'GOOGLE_OAUTH',
  OIDC: 'OIDC',
} as const satisfies Record<AccountMethod, string>

export type SelfView = {
  id: string
  email: string
  isOperator: boolean
  emailVerified: boolean
  /** The project that an account is bound to until its address is proven. */
  onlyProjectId: string | null
  method: (typeof METHOD_NAMES)[AccountMethod]
  /** Whether logins need a code. */
  twoFactor: boolean
  /** `xx` or `xx-XX` */
  language: string
  /** IANA */
  timezone: string
}

/** @throws AppError UNAUTHORIZED when the user was deleted meanwhile */
export async function describeSelf(
  { store }: Pick<Base, 'store'>,
  userId: string,
): Promise<SelfView> {
  const user = await store.read.select().from(users).where(eq(users.id, userId)).get()
  if (user === undefined) throw noSession()
  return toSelfView(user)
}

export function toSelfView(user: User): SelfView {
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
