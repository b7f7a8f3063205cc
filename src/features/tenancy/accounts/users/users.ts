/** Users, who may log in. Operators create them; memberships say which projects they may use. */
import type { Now } from '../../../../base/clock.ts'
import { AppError, invalidField, notFound } from '../../../../base/errors.ts'
import { parseShownAddress } from '../../../../formats/address/named-mailbox.ts'
import { eq } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { type User, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { checkPassword, hashPassword, makePassword } from '../passwords/passwords.ts'
import { deleteLink, deleteLinkFile } from '../setup/link.ts'

export type UserInput = {
  address: string
  /** The password; a new one is made if absent. */
  password?: string | undefined
  isOperator?: boolean | undefined
}

/** `password` is present only if it was generated; it is shown only once. */
export type CreatedUser = { id: string; email: string; password?: string }

type NewUser = Pick<User, 'address' | 'passwordHash' | 'isSandbox'> &
  Partial<Pick<User, 'method' | 'isOperator' | 'onlyProjectId' | 'language'>> & {
    /** Whether the address is proven (`proof.ts`). */
    isProven: boolean
    at: number
  }

type UserDeps = Pick<Base, 'store' | 'config' | 'log'> & { now: Now }

/**
 * Creates a user. The server needs no set-up in a browser any more: the link (`setup/link.ts`) ends in the same
 * transaction.
 * @throws AppError VALIDATION_ERROR (email, password), CONFLICT when the address is taken
 */
export async function createUser(deps: UserDeps, input: UserInput): Promise<CreatedUser> {
  const address = parseUserAddress(input.address)
  const { passwordHash, made } = await choosePassword(input)
  const at = deps.now()
  const { isOperator = false } = input
  // A user who is created by a command has a proven address: whoever can run commands vouches for
  // it.
  const user = { address, passwordHash, isSandbox: false, isOperator, isProven: true, at }
  const id = await deps.store.write(async (tx) => {
    await deleteLink(tx)
    return insertUser(tx, user)
  })
  await deleteLinkFile(deps)
  return { id, email: address, ...made }
}

/** Returns the id of the new user. @throws AppError CONFLICT */
export async function insertUser(tx: Tx, { at, isProven, ...user }: NewUser): Promise<string> {
  const id = newId()
  const verifiedAt = isProven ? at : null
  const [inserted] = await tx
    .insert(users)
    .values({ id, ...user, verifiedAt, createdAt: at, updatedAt: at })
    .onConflictDoNothing({ target: users.address })
    .returning({ id: users.id })
  if (inserted === undefined) {
    throw new AppError('CONFLICT', 'A user with this email address already exists.')
  }
  return id
}

/**
 * Finds the id of the user with this address.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND
 */
export async function loadUserId(queries: Pick<Tx, 'select'>, text: string): Promise<string> {
  const address = parseUserAddress(text)
  const id = await findUserId(queries, address)
  if (id === undefined) throw userNotFound(address)
  return id
}

/** `address`: as `ParsedAddress.address`. */
export async function findUserId(
  queries: Pick<Tx, 'select'>,
  address: string,
): Promise<string | undefined> {
  const user = await queries
    .select({ id: users.id })
    .from(users)
    .where(eq(users.address, address))
    .get()
  return user?.id
}

/** Returns the given password, or makes one. @throws AppError VALIDATION_ERROR (password) */
export async function choosePassword({ password }: Pick<UserInput, 'password'>) {
  if (password !== undefined) checkPassword(password)
  const chosen = password ?? makePassword()
  const passwordHash = await hashPassword(chosen)
  return { passwordHash, made: password === undefined ? { password: chosen } : {} }
}

/** @throws AppError VALIDATION_ERROR (email) */
export function parseUserAddress(text: string): string {
  const parsed = parseShownAddress(text)
  if (parsed === undefined) throw invalidField('email', 'invalid_string', 'Not an email address')
  return parsed.address
}

export function userNotFound(address: string): AppError {
  return notFound('user', address, 'No user has this email address.')
}
