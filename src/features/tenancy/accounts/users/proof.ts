/**
 * Whether an address is proven to be its user's: by a link that was mailed to it, by an identity provider, or
 * by the word of whoever runs commands on the server. Whatever trusts an address asks here. An address that
 * nobody could check, because the server had no mail for its users, is not proven.
 *
 * Anyone can make an account of somebody else's address while it is not proven. An account that an
 * invitation without mail made is bound to the project of the invitation: it joins and creates no other
 * project before its address is proven.
 */
import { AppError } from '../../../../base/errors.ts'
import { and, eq, isNotNull, isNull, type SQL } from '../../../../store/drizzle.ts'
import { type User, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { parseUserAddress, userNotFound } from './users.ts'

type Provable = Pick<User, 'verifiedAt'>
type Bindable = Provable & Pick<User, 'onlyProjectId'>

export function isProven({ verifiedAt }: Provable): boolean {
  return verifiedAt !== null
}

/** SQL: `isProven` for a row of `users`. */
export function isProvenUser(): SQL {
  return isNotNull(users.verifiedAt)
}

/** Returns the project that the user is bound to; null for users who may join any project. */
export function boundProjectOf(user: Bindable): string | null {
  return isProven(user) ? null : user.onlyProjectId
}

/**
 * Requires that the user may become a member of the project; null stands for a project that the
 * user creates.
 * @throws AppError EMAIL_VERIFICATION_REQUIRED for a user who is bound to another project
 */
export async function requireUnbound(
  tx: Pick<Tx, 'select'>,
  { userId, projectId }: { userId: string; projectId: string | null },
): Promise<void> {
  const user = await tx.select().from(users).where(eq(users.id, userId)).get()
  const bound = user === undefined ? null : boundProjectOf(user)
  if (bound !== null && bound !== projectId) throw boundElsewhere()
}

/**
 * Finds the user with this address, for commands that give a right to the owner of the address.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT when the address is not proven
 */
export async function loadProvenUserId(queries: Pick<Tx, 'select'>, text: string): Promise<string> {
  const address = parseUserAddress(text)
  const user = await queries.select().from(users).where(eq(users.address, address)).get()
  if (user === undefined) throw userNotFound(address)
  if (!isProven(user)) throw notProven(address)
  return user.id
}

/** Marks the address as proven, and keeps the time of the first proof. */
export async function markProven(tx: Tx, userId: string, at: number): Promise<void> {
  const isUnproven = and(eq(users.id, userId), isNull(users.verifiedAt))
  await tx
    .update(users)
    .set({ verifiedAt: at, onlyProjectId: null, updatedAt: at })
    .where(isUnproven)
}

/** Marks the address as not proven. */
export async function markUnproven(tx: Tx, userId: string, at: number): Promise<void> {
  await tx.update(users).set({ verifiedAt: null, updatedAt: at }).where(eq(users.id, userId))
}

function notProven(address: string): AppError {
  return new AppError(
    'CONFLICT',
    `The address ${address} is not proven: anyone may have made this account.`,
    {
      suggestion: `If you know that the account belongs to the owner of the address: pillarbox user verify --email ${address}`,
    },
  )
}

function boundElsewhere(): AppError {
  return new AppError(
    'EMAIL_VERIFICATION_REQUIRED',
    'This account belongs to one project only until its email address is verified.',
    {
      suggestion: 'An operator of this server verifies it: pillarbox user verify --email ADDRESS.',
    },
  )
}
