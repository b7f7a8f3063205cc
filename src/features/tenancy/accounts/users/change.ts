/** Changes of a user by the operator of the server. All take effect with the user's next request. */
import { eq } from '../../../../store/drizzle.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { clearTotp } from '../second-factor/disable.ts'
import { endAccess } from '../sessions/end-access.ts'
import { parseUserAddress } from './address.ts'
import { getProvenUserId, markProven, markUnproven } from './proof.ts'
import { getUserId } from './users.ts'

type ChangedUser = { id: string; email: string }

type Deps = Pick<Base, 'store' | 'now'>

/**
 * Only a user whose address is proven becomes an operator.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT
 */
export async function setOperator(
  { store, now }: Deps,
  { email, isOperator }: { email: string; isOperator: boolean },
): Promise<ChangedUser & { isOperator: boolean }> {
  const id = await store.write(async (tx) => {
    const id = isOperator ? await getProvenUserId(tx, email) : await getUserId(tx, email)
    await tx.update(users).set({ isOperator, updatedAt: now() }).where(eq(users.id, id))
    return id
  })
  return { id, email: parseUserAddress(email), isOperator }
}

/**
 * Counts the address as proven, from the first time on, or as not proven any more.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND
 */
export async function verifyUser(
  { store, now }: Deps,
  { email, isVerified }: { email: string; isVerified: boolean },
): Promise<ChangedUser & { emailVerified: boolean }> {
  const id = await store.write(async (tx) => {
    const id = await getUserId(tx, email)
    const mark = isVerified ? markProven : markUnproven
    await mark(tx, id, now())
    return id
  })
  return { id, email: parseUserAddress(email), emailVerified: isVerified }
}

/**
 * Turns the second factor of a user off who has lost it. All sessions of the user end.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND
 */
export async function removeSecondFactor(
  { store, now }: Deps,
  email: string,
): Promise<ChangedUser & { twoFactor: false }> {
  const id = await store.write(async (tx) => {
    const userId = await getUserId(tx, email)
    await clearTotp(tx, userId, now())
    await endAccess(tx, { userId, at: now() })
    return userId
  })
  return { id, email: parseUserAddress(email), twoFactor: false }
}
