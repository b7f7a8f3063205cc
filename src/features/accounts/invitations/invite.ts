/**
 * Invites an address that has no account. The invitation is bound to the address and the role. Its link
 * is mailed; a server that has no mail for its users gives it to the user who invites.
 */
import { DAY_MS } from '../../../clock.ts'
import { newId } from '../../../store/ids.ts'
import { invitations } from '../../../store/schema/accounts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { GivenRole } from '../members/member.ts'
import { enqueuePlatformMail } from '../platform-mail/enqueue.ts'
import { refuseTooMany } from './limits.ts'
import { revokeInvitationsTo } from './revoke.ts'

type NewInvitation = {
  projectId: string
  address: string
  role: GivenRole
  /** The id of the user who invites. */
  invitedBy: string
  /** Null when the link is mailed: the mail makes the token. */
  digest: string | null
  at: number
}

const LIFETIME_MS = 7 * DAY_MS

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
