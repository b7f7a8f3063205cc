/**
 * The commands of the operator of the server about users: listing, changing, deleting, a new
 * password. All changes take effect with the user's next request.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { ListedUser } from '../../../../records/user.ts'
import { and, asc, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, projects, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { clearTotp } from '../second-factor/disable.ts'
import { endAccess } from '../sessions/end-access.ts'
import { parseUserAddress, userNotFound } from './address.ts'
import { loadProvenUserId, markProven, markUnproven } from './proof.ts'
import { toUserRecord } from './self.ts'
import { type CreatedUser, choosePassword, loadUserId, type UserInput } from './users.ts'

type ChangedUser = { id: string; email: string }

type Deps = Pick<Base, 'store' | 'now'>

type OwnedProject = { id: string; name: string }

const MAX_NAMED = 10

/**
 * Only a user whose address is proven becomes an operator.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT
 */
export async function setOperator(
  { store, now }: Deps,
  { email, isOperator }: { email: string; isOperator: boolean },
): Promise<ChangedUser & { isOperator: boolean }> {
  const id = await store.write(async (tx) => {
    const id = isOperator ? await loadProvenUserId(tx, email) : await loadUserId(tx, email)
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
    const id = await loadUserId(tx, email)
    const mark = isVerified ? markProven : markUnproven
    await mark(tx, id, now())
    return id
  })
  return { id, email: parseUserAddress(email), emailVerified: isVerified }
}

/**
 * Turns the second factor of a user off, for users who have lost it. All sessions of the user end.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND
 */
export async function deleteSecondFactor(
  { store, now }: Deps,
  email: string,
): Promise<ChangedUser & { twoFactor: false }> {
  const id = await store.write(async (tx) => {
    const userId = await loadUserId(tx, email)
    await clearTotp(tx, userId, now())
    await endAccess(tx, { userId, at: now() })
    return userId
  })
  return { id, email: parseUserAddress(email), twoFactor: false }
}

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

/**
 * Deletes a user; sessions, tokens, memberships and accounts at other providers go with the row.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT while the user owns projects
 */
export async function deleteUser(
  { store }: Pick<Base, 'store'>,
  email: string,
): Promise<{ id: string; email: string; deleted: true }> {
  const id = await store.write(async (tx) => {
    const id = await loadUserId(tx, email)
    const owned = await listOwned(tx, id)
    if (owned.length > 0) throw ownsProjects(owned)
    await tx.delete(users).where(eq(users.id, id))
    return id
  })
  return { id, email: parseUserAddress(email), deleted: true }
}

/** All users, oldest first. */
export async function listUsers({ store }: Pick<Base, 'store'>): Promise<ListedUser[]> {
  const rows = await store.read.select().from(users).orderBy(asc(users.createdAt), asc(users.id))
  return rows.map((row) => {
    const { language: _language, timezone: _timezone, ...user } = toUserRecord(row)
    return { ...user, isSandbox: row.isSandbox, createdAt: formatInstant(row.createdAt) }
  })
}

function hasNoPassword(method: string): AppError {
  return new AppError(
    'BAD_REQUEST',
    `This user logs in with ${method} and has no password on this server.`,
  )
}

function listOwned(tx: Tx, userId: string): Promise<OwnedProject[]> {
  const isOwner = and(
    eq(memberships.projectId, projects.id),
    eq(memberships.userId, userId),
    eq(memberships.role, 'OWNER'),
  )
  return tx
    .select({ id: projects.id, name: projects.name })
    .from(projects)
    .innerJoin(memberships, isOwner)
    .where(isNull(projects.deletedAt))
    .orderBy(asc(projects.createdAt))
    .all()
}

function ownsProjects(owned: readonly OwnedProject[]): AppError {
  const named = owned.slice(0, MAX_NAMED).map(({ id, name }) => `${name} (${id})`)
  const more = owned.length > MAX_NAMED ? ` and ${owned.length - MAX_NAMED} more` : ''
  return new AppError('CONFLICT', `This user owns projects: ${named.join(', ')}${more}.`, {
    details: { projects: owned },
    suggestion:
      'Delete them, or hand them over: pillarbox project member role ID --email ADDRESS --role OWNER.',
  })
}
