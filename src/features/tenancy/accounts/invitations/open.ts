/**
 * Open invitations: neither accepted nor revoked nor expired, to a project that is there, from a user
 * who is still an owner or admin of it.
 */
import { formatInstant } from '../../../../base/clock.ts'
import type { GivenRole, InvitationRecord } from '../../../../records/member.ts'
import { and, desc, eq, gt, isNull, ne, type SQL } from '../../../../store/drizzle.ts'
import { invitations, memberships, projects, users } from '../../../../store/schema/accounts.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { digestLinkToken } from '../links/link-tokens.ts'

export type OpenInvitation = {
  id: string
  projectId: string
  projectName: string
  isProjectDisabled: boolean
  address: string
  role: GivenRole
  isMailed: boolean
  inviterAddress: string
  createdAt: number
  expiresAt: number
}

/** Finds the open invitation of a token; undefined for any other token. */
export async function findOpenInvitation(
  queries: Queries,
  token: string,
  at: number,
): Promise<OpenInvitation | undefined> {
  const isTokens = eq(invitations.digest, digestLinkToken(token))
  const [found] = await selectOpen(queries, at, isTokens)
  return found
}

/** Whether an address has an open invitation to any project. */
export async function isInvited(queries: Queries, address: string, at: number): Promise<boolean> {
  const open = await selectOpen(queries, at, eq(invitations.address, address))
  return open.length > 0
}

/** SQL: the invitation is neither accepted nor revoked; it may have expired. */
export function isUndecided(): SQL | undefined {
  return and(isNull(invitations.acceptedAt), isNull(invitations.revokedAt))
}

/** Lists the open invitations of a project, newest first, as the API shows them. */
export async function listInvitations(
  { store, now }: Pick<Base, 'store' | 'now'>,
  projectId: string,
): Promise<InvitationRecord[]> {
  const open = await listOpenInvitations(store.read, projectId, now())
  return open.map(({ id, address, role, inviterAddress, createdAt, expiresAt }) => ({
    id,
    email: address,
    role,
    invitedBy: inviterAddress,
    createdAt: formatInstant(createdAt),
    expiresAt: formatInstant(expiresAt),
  }))
}

/** Lists open invitations, newest first. */
function listOpenInvitations(
  queries: Queries,
  projectId: string,
  at: number,
): Promise<OpenInvitation[]> {
  return selectOpen(queries, at, eq(invitations.projectId, projectId))
}

async function selectOpen(queries: Queries, at: number, which: SQL): Promise<OpenInvitation[]> {
  const rows = await queries
    .select({
      id: invitations.id,
      projectId: invitations.projectId,
      projectName: projects.name,
      isProjectDisabled: projects.isDisabled,
      address: invitations.address,
      role: invitations.role,
      isMailed: invitations.isMailed,
      inviterAddress: users.address,
      createdAt: invitations.createdAt,
      expiresAt: invitations.expiresAt,
    })
    .from(invitations)
    .innerJoin(projects, and(eq(projects.id, invitations.projectId), isNull(projects.deletedAt)))
    .innerJoin(
      memberships,
      and(
        eq(memberships.projectId, invitations.projectId),
        eq(memberships.userId, invitations.invitedBy),
        ne(memberships.role, 'MEMBER'),
      ),
    )
    .innerJoin(users, eq(users.id, invitations.invitedBy))
    .where(and(which, isUndecided(), gt(invitations.expiresAt, at)))
    .orderBy(desc(invitations.createdAt), desc(invitations.id))
    .all()
  return rows.map(({ role, ...row }) => ({ ...row, role: role === 'ADMIN' ? 'ADMIN' : 'MEMBER' }))
}
