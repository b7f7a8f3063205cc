/** Users, who may log in. Operators create them; memberships say which projects they may use. */
import { formatInstant, type Now } from '../../clock.ts'
import { AppError, invalidField, notFound } from '../../errors.ts'
import { parseAddress } from '../../mail/address/address.ts'
import { asc, eq } from '../../store/drizzle.ts'
import { newId } from '../../store/ids.ts'
import { type User, users } from '../../store/schema/accounts.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { checkPassword, hashPassword, makePassword } from './passwords.ts'

export type UserInput = {
  address: string
  /** Generated when absent. */
  password?: string | undefined
}

/** `password` is present only if it was generated; it is shown only once. */
export type CreatedUser = { id: string; email: string; password?: string }

type UserView = {
  id: string
  email: string
  /** Created by the sandbox; refused in other modes until the user gets a new password. */
  isSandbox: boolean
  createdAt: string
}

type NewUser = Pick<User, 'address' | 'passwordHash' | 'isSandbox'> &
  Partial<Pick<User, 'method' | 'isOperator' | 'verifiedAt' | 'language'>> & { at: number }

type UserDeps = Pick<Base, 'store'> & { now: Now }

/** @throws AppError VALIDATION_ERROR (email, password), CONFLICT when the address is taken */
export async function createUser(deps: UserDeps, input: UserInput): Promise<CreatedUser> {
  const address = parseUserAddress(input.address)
  const { passwordHash, made } = await choosePassword(input)
  const at = deps.now()
  // Whoever can run commands vouches for the address.
  const user = { address, passwordHash, isSandbox: false, verifiedAt: at, at }
  const id = await deps.store.write((tx) => insertUser(tx, user))
  return { id, email: address, ...made }
}

/**
 * Sets a new password, which also replaces one of the sandbox.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND
 */
export async function setPassword(deps: UserDeps, input: UserInput): Promise<CreatedUser> {
  const address = parseUserAddress(input.address)
  const { passwordHash, made } = await choosePassword(input)
  const change = { passwordHash, isSandbox: false, updatedAt: deps.now() }
  const [user] = await deps.store.write((tx) =>
    tx.update(users).set(change).where(eq(users.address, address)).returning({ id: users.id }),
  )
  if (user === undefined) throw userNotFound(address)
  return { id: user.id, email: address, ...made }
}

/** Oldest first. */
export async function listUsers({ store }: Pick<Base, 'store'>): Promise<UserView[]> {
  const rows = await store.read.select().from(users).orderBy(asc(users.createdAt), asc(users.id))
  return rows.map(({ id, address, isSandbox, createdAt }) => ({
    id,
    email: address,
    isSandbox,
    createdAt: formatInstant(createdAt),
  }))
}

/** Returns the id of the new user, unverified unless given. @throws AppError CONFLICT */
export async function insertUser(tx: Tx, { at, ...user }: NewUser): Promise<string> {
  const id = newId()
  const [inserted] = await tx
    .insert(users)
    .values({ id, ...user, createdAt: at, updatedAt: at })
    .onConflictDoNothing({ target: users.address })
    .returning({ id: users.id })
  if (inserted === undefined) {
    throw new AppError('CONFLICT', 'A user with this email address already exists.')
  }
  return id
}

/** The id of the user with this address. @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND */
export async function getUserId(queries: Pick<Tx, 'select'>, text: string): Promise<string> {
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

async function choosePassword({ password }: UserInput) {
  if (password !== undefined) checkPassword(password)
  const chosen = password ?? makePassword()
  const passwordHash = await hashPassword(chosen)
  return { passwordHash, made: password === undefined ? { password: chosen } : {} }
}

function parseUserAddress(text: string): string {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw invalidField('email', 'invalid_string', 'Not an email address')
  return parsed.address
}

function userNotFound(address: string): AppError {
  return notFound('user', address, 'No user has this email address.')
}
