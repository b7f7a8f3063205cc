/** The open invitations of a project. */
import { formatInstant } from '../../../../base/clock.ts'
import type { InvitationRecord } from '../../../../records/member.ts'
import type { Base } from '../../../ground/base.ts'
import { listOpenInvitations } from './open.ts'

/** Newest first. */
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
