/**
 * Invites an address to a project. The answer and the rows are the same whether the address has an account or
 * not, so nobody learns who has one; membership begins when the invitation is accepted. The invitation is
 * bound to the address and the role. Its link is mailed; a server that has no mail for its users gives it to
 * the user who invites.
 */
import { DAY_MS } from '../../../../base/clock.ts'
import type { GivenRole, Invited } from '../../../../records/member.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { invitations, memberships, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { digestLinkToken, makeLinkToken } from '../links/link-token.ts'
import { alreadyMember } from '../members/member.ts'
import { requireAdmin } from '../members/require-admin.ts'
import { enqueuePlatformMail } from '../platform-mail/enqueue.ts'
import { findMailProjectId } from '../platform-mail/mail-project.ts'
import { refuseTooMany } from './limits.ts'
import { revokeInvitationsTo } from './revoke.ts'

type Invitee = {
  projectId: string
  /** As `ParsedAddress.address`. */
  address: string
  role: GivenRole
  /** The id of the user who invites. */
  actorId: string
}

type NewInvitation = Omit<Invitee, 'actorId'> & {
  /** The id of the user who invites. */
  invitedBy: string
  /** Null when the link is mailed: the mail makes the token. */
  digest: string | null
  at: number
}

const LIFETIME_MS = 7 * DAY_MS

/**
 * Who is a member of this project already is not invited: admins see its members anyway.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN, CONFLICT, RATE_LIMIT_EXCEEDED
 */
export async function inviteMember(
  { store, config, now }: Pick<Base, 'store' | 'config' | 'now'>,
  { projectId, address, role, actorId }: Invitee,
): Promise<Invited> {
  const isMailed = (await findMailProjectId({ config }, store.read)) !== undefined
  const token = isMailed ? undefined : makeLinkToken()
  const digest = token === undefined ? null : digestLinkToken(token)
  const at = now()
  await store.write(async (tx) => {
    await requireAdmin(tx, { projectId, userId: actorId })
    if (await isMember(tx, { projectId, address })) throw alreadyMember()
    await insertInvitation(tx, { projectId, address, role, invitedBy: actorId, digest, at })
  })
  const link = token === undefined ? {} : { url: `${config.baseUrl}/invitations/${token}` }
  return { invited: true, email: address, role, ...link }
}

/**
 * An open invitation of the project to the same address is revoked: only the newest link works.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function insertInvitation(tx: Tx, invitation: NewInvitation): Promise<void> {
  const { projectId, address, role, invitedBy, digest, at } = invitation
  const isMailed = digest === null
  await refuseTooMany(tx, { projectId, address, isMailed, at })
  await revokeInvitationsTo(tx, { projectId, address, at })
  const id = newId()
  await tx.insert(invitations).values({
    ...{ id, projectId, address, role, digest, invitedBy, isMailed },
    ...{ createdAt: at, expiresAt: at + LIFETIME_MS },
  })
  if (isMailed) await enqueuePlatformMail(tx, { kind: 'invitation', invitationId: id }, at)
}

async function isMember(
  tx: Tx,
  { projectId, address }: Pick<Invitee, 'projectId' | 'address'>,
): Promise<boolean> {
  const found = await tx
    .select({ userId: memberships.userId })
    .from(memberships)
    .innerJoin(users, eq(users.id, memberships.userId))
    .where(and(eq(memberships.projectId, projectId), eq(users.address, address)))
    .get()
  return found !== undefined
}
