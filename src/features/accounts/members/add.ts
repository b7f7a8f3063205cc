/** Adds members to a project by their addresses. Who has no account yet is invited. */
import { and, eq } from '../../../store/drizzle.ts'
import { memberships, users } from '../../../store/schema/accounts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { insertInvitation } from '../invitations/invite.ts'
import { revokeInvitationsTo } from '../invitations/revoke.ts'
import { digestLinkToken, makeLinkToken } from '../links/link-token.ts'
import { isPlatformMailConfigured, needsVerification } from '../platform-mail/configured.ts'
import { getUserId } from '../users/users.ts'
import { type GivenRole, getMember, insertMember, type Member } from './member.ts'
import { requireAdmin, requireManager } from './require-admin.ts'

type Addition = {
  projectId: string
  /** As `ParsedAddress.address`. */
  address: string
  role: GivenRole
  /** The id of the user who acts. */
  actorId: string
}

/** `url`: the link, when this server has no mail for its users. */
export type Invited = { invited: true; email: string; role: GivenRole; url?: string }

/**
 * A user whose address is not proven yet is invited like somebody without an account.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN, CONFLICT, RATE_LIMIT_EXCEEDED
 */
export async function addMember(
  { store, config, now }: Pick<Base, 'store' | 'config' | 'now'>,
  { projectId, address, role, actorId }: Addition,
): Promise<Member | Invited> {
  const token = isPlatformMailConfigured(config) ? undefined : makeLinkToken()
  const digest = token === undefined ? null : digestLinkToken(token)
  const at = now()
  return store.write(async (tx) => {
    await requireAdmin(tx, { projectId, userId: actorId })
    const user = await findUser(tx, projectId, address)
    // Anyone can sign up with any address: whoever reads its mail must agree.
    const isKnown = user !== undefined && (user.isMember || !needsVerification(config, user))
    if (isKnown) return join(tx, { projectId, userId: user.id, role, at })
    await insertInvitation(tx, { projectId, address, role, invitedBy: actorId, digest, at })
    const link = token === undefined ? {} : { url: `${config.baseUrl}/invitations/${token}` }
    return { invited: true, email: address, role, ...link }
  })
}

/**
 * Adds a user who has an account, for the command line.
 * @throws AppError VALIDATION_ERROR (email), RESOURCE_NOT_FOUND, CONFLICT
 */
export async function addKnownMember(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, email, role }: { projectId: string; email: string; role: GivenRole },
): Promise<Member> {
  const at = now()
  return store.write(async (tx) => {
    await requireManager(tx, { projectId })
    const userId = await getUserId(tx, email)
    return join(tx, { projectId, userId, role, at })
  })
}

async function findUser(
  tx: Tx,
  projectId: string,
  address: string,
): Promise<{ id: string; verifiedAt: number | null; isMember: boolean } | undefined> {
  const isOfProject = and(eq(memberships.userId, users.id), eq(memberships.projectId, projectId))
  const found = await tx
    .select({ id: users.id, verifiedAt: users.verifiedAt, memberOf: memberships.projectId })
    .from(users)
    .leftJoin(memberships, isOfProject)
    .where(eq(users.address, address))
    .get()
  return found && { ...found, isMember: found.memberOf !== null }
}

async function join(
  tx: Tx,
  membership: { projectId: string; userId: string; role: GivenRole; at: number },
): Promise<Member> {
  const { projectId, at } = membership
  await insertMember(tx, membership)
  const member = await getMember(tx, membership)
  await revokeInvitationsTo(tx, { projectId, address: member.email, at })
  return member
}
