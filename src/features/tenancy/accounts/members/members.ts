/**
 * The members of a project: adding (for the command line; the API invites,
 * `invitations/invite.ts`), listing, changing a role, handing over, removing. The owner stays until
 * another member becomes the owner.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { GivenRole, ListedMember, MemberRecord } from '../../../../records/member.ts'
import { listOf } from '../../../../store/dialect.ts'
import { and, asc, eq, sql } from '../../../../store/drizzle.ts'
import { memberships, users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { revokeInvitationsBy, revokeInvitationsTo } from '../invitations/revoke.ts'
import { isProven, isProvenUser, loadProvenUserId } from '../users/proof.ts'
import { insertMember, loadMember, type MemberKey, setRole } from './member.ts'
import { requireManager } from './require-admin.ts'

/**
 * Makes a user a member at once. The address of the user must be proven.
 * @throws AppError VALIDATION_ERROR (email), RESOURCE_NOT_FOUND, CONFLICT
 */
export async function addMember(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, email, role }: { projectId: string; email: string; role: GivenRole },
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    await requireManager(tx, { projectId })
    const userId = await loadProvenUserId(tx, email)
    await insertMember(tx, { projectId, userId, role, at })
    const member = await loadMember(tx, { projectId, userId })
    await revokeInvitationsTo(tx, { projectId, address: member.email, at })
    return member
  })
}

/**
 * Changes the role of a member. The role of the owner changes only with a new owner (`handOver`).
 * `actorId`: the user who acts; absent for the command line.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function changeRole(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, userId }: MemberKey,
  { role, actorId }: { role: GivenRole; actorId?: string },
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    await requireManager(tx, { projectId, actorId })
    const member = await loadMember(tx, { projectId, userId })
    if (member.role === 'OWNER') throw ownerStays()
    await setRole(tx, { projectId, userId, role, at })
    if (role === 'MEMBER') await revokeInvitationsBy(tx, { projectId, userId, at })
    return { ...member, role }
  })
}

/**
 * Makes a member the owner of the project. The owner until now becomes an ADMIN in the same
 * transaction, so the project has one owner at all times. The address of the new owner must be
 * proven.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT
 */
export async function handOver(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, userId }: MemberKey,
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    await requireManager(tx, { projectId })
    const member = await loadMember(tx, { projectId, userId })
    if (member.role === 'OWNER') return member
    await loadProvenUserId(tx, member.email)
    await tx
      .update(memberships)
      .set({ role: 'ADMIN', updatedAt: at })
      .where(and(eq(memberships.projectId, projectId), eq(memberships.role, 'OWNER')))
    await setRole(tx, { projectId, userId, role: 'OWNER', at })
    return { ...member, role: 'OWNER' }
  })
}

/**
 * Removes a member, or lets a member leave. Takes effect with the member's next request. `actorId`:
 * the user who acts; absent for the command line. Members need no role to remove themselves.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN
 */
export async function deleteMember(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, userId }: MemberKey,
  actorId?: string,
): Promise<MemberRecord> {
  const at = now()
  return store.write(async (tx) => {
    if (userId !== actorId) await requireManager(tx, { projectId, actorId })
    const member = await loadMember(tx, { projectId, userId })
    if (member.role === 'OWNER') throw ownerCannotLeave()
    await tx
      .delete(memberships)
      .where(and(eq(memberships.projectId, projectId), eq(memberships.userId, userId)))
    await revokeInvitationsBy(tx, { projectId, userId, at })
    return member
  })
}

/** The members of a project, oldest first. Empty for a project that does not exist. */
export async function listMembers(
  { store }: Pick<Base, 'store'>,
  projectId: string,
): Promise<ListedMember[]> {
  const { userId, role, createdAt } = memberships
  const rows = await store.read
    .select({ userId, email: users.address, verifiedAt: users.verifiedAt, role, createdAt })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(eq(memberships.projectId, projectId))
    .orderBy(asc(createdAt), asc(userId))
  return rows.map(({ userId, email, role, ...row }) => ({
    ...{ userId, email, emailVerified: isProven(row), role },
    createdAt: formatInstant(row.createdAt),
  }))
}

/** Returns the addresses that are proven to belong to members of the project. */
export async function findMemberAddresses(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  addresses: readonly string[],
): Promise<Set<string>> {
  const rows = await store.read
    .select({ address: users.address })
    .from(users)
    .innerJoin(
      memberships,
      and(eq(memberships.userId, users.id), eq(memberships.projectId, projectId)),
    )
    .where(
      and(isProvenUser(), sql`${users.address} in ${listOf(sql`${JSON.stringify(addresses)}`)}`),
    )
    .all()
  return new Set(rows.map(({ address }) => address))
}

function ownerStays(): AppError {
  return new AppError('FORBIDDEN', 'The role of the owner cannot be changed.', {
    suggestion: 'An operator names another owner with "pillarbox project member role".',
  })
}

function ownerCannotLeave(): AppError {
  return new AppError('FORBIDDEN', 'The owner of a project cannot be removed.', {
    suggestion: 'An operator names another owner with "pillarbox project member role".',
  })
}
