/** A new password by the operator of the server. */
import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { endAccess } from '../sessions/end-access.ts'
import { parseUserAddress, userNotFound } from './address.ts'
import { type CreatedUser, choosePassword, type UserInput } from './users.ts'

/**
 * Sets a new password, which also replaces one of the sandbox. All sessions of the user end.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, BAD_REQUEST for users of another method
 */
export async function setPassword(
  { store, now }: Pick<Base, 'store' | 'now'>,
  input: Pick<UserInput, 'address' | 'password'>,
): Promise<CreatedUser> {
  const address = parseUserAddress(input.address)
  const { passwordHash, made } = await choosePassword(input)
  const at = now()
  const change = { passwordHash, isSandbox: false, updatedAt: at }
  const id = await store.write(async (tx) => {
    const user = await tx
      .select({ id: users.id, method: users.method })
      .from(users)
      .where(eq(users.address, address))
      .get()
    if (user === undefined) throw userNotFound(address)
    if (user.method !== 'PASSWORD') throw hasNoPassword(user.method)
    await tx.update(users).set(change).where(eq(users.id, user.id))
    await endAccess(tx, { userId: user.id, at })
    return user.id
  })
  return { id, email: address, ...made }
}

function hasNoPassword(method: string): AppError {
  return new AppError(
    'BAD_REQUEST',
    `This user logs in with ${method} and has no password on this server.`,
  )
}
