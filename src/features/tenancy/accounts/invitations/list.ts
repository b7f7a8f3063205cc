/** The open invitations of a project. */
import { formatInstant } from '../../../../base/clock.ts'
import type { Base } from '../../../ground/base.ts'
import type { GivenRole } from '../members/member.ts'
import { listOpenInvitations } from './open.ts'

type InvitationView = {
  id: string
  email: string
  role: GivenRole
  /** The address of the user who invites. */
  invitedBy: string
  createdAt: string
  expiresAt: string
}

/** Newest first. */
export async function listInvitations(
  { store, now }: Pick<Base, 'store' | 'now'>,
  projectId: string,
): Promise<InvitationView[]> {
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
