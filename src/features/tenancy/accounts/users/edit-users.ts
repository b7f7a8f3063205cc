/**
 * Users as they are shown and changed: by themselves (their record, the password, the language and the time
 * zone), and by the commands of the operator of the server (listing, changing, deleting, a new password). All
 * changes take effect with the user's next request.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { ListedUser, UserRecord } from '../../../../records/user.ts'
import { and, asc, eq, isNull } from '../../../../store/drizzle.ts'
import {
  type LoginSession,
  memberships,
  projects,
  type User,
  users,
} from '../../../../store/schema/accounts.ts'
import type { AccountMethod } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { noSession } from '../callers/admit.ts'
import { type GivenPassword, placeOfUser, withPassword } from '../login/confirm-password.ts'
import { issueDevice } from '../login/device.ts'
import type { LoginDeps } from '../login/log-in.ts'
import { hashPassword } from '../passwords/passwords.ts'
import { hasSecondFactor } from '../second-factor/codes.ts'
import { clearTotp } from '../second-factor/second-factor.ts'
import { endAccess, issueCookie, type SessionCookie } from '../sessions/sessions.ts'
import { deleteLink, deleteLinkFile } from '../setup/link.ts'
import { boundProjectOf, isProven, loadProvenUserId, markProven, markUnproven } from './proof.ts'
import {
  type CreatedUser,
  choosePassword,
  loadUserId,
  parseUserAddress,
  type UserInput,
  userNotFound,
} from './users.ts'

/** The methods of login under the names that clients of this API family know. */
const METHOD_NAMES = {
  PASSWORD: 'PASSWORD',
  GITHUB: 'GITHUB_OAUTH',
  GOOGLE: 'GOOGLE_OAUTH',
  OIDC: 'OIDC',
} as const satisfies Record<AccountMethod, UserRecord['method']>

type Preferences = { language?: string | undefined; timezone?: string | undefined }

type ChangedUser = { id: string; email: string }

type Deps = Pick<Base, 'store' | 'now'>

type OwnedProject = { id: string; name: string }

const MAX_NAMED = 10

/** The record of a user. @throws AppError UNAUTHORIZED when the user was deleted meanwhile */
export async function describeSelf(
  { store }: Pick<Base, 'store'>,
  userId: string,
): Promise<UserRecord> {
  const user = await store.read.select().from(users).where(eq(users.id, userId)).get()
  if (user === undefined) throw noSession()
  return toUserRecord(user)
}

function toUserRecord(user: User): UserRecord {
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
 * browser also gets a new device token (`login/device.ts`), because the user knows the new password
 * there.
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
      // Another change of the password was faster and has ended this session.
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

/**
 * Changes the language and the time zone of a user.
 * @throws AppError UNAUTHORIZED when the user was deleted meanwhile
 */
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

/**
 * Makes a user an operator, or takes the right back. Only a user with a proven address becomes one.
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
 * Marks the address of a user as proven, which keeps the time of the first proof, or as not proven.
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
 * Sets a new password, which also replaces one of the sandbox: such a user may log in in every mode from then
 * on. All sessions of the user end.
 * @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, BAD_REQUEST for users of another method
 */
export async function setPassword(
  deps: Pick<Base, 'store' | 'config' | 'now' | 'log'>,
  input: Pick<UserInput, 'address' | 'password'>,
): Promise<CreatedUser> {
  const address = parseUserAddress(input.address)
  const { passwordHash, made } = await choosePassword(input)
  const { store, now } = deps
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
    await deleteLink(tx)
    return user.id
  })
  await deleteLinkFile(deps)
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

/** Lists all users, oldest first. */
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
