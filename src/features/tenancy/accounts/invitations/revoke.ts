/** Revokes invitations: their links stop working. */
import { notFound } from '../../../../base/errors.ts'
import { and, eq, type SQL } from '../../../../store/drizzle.ts'
import { invitations } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { requireAdmin } from '../members/require-admin.ts'
import { isUndecided } from './open.ts'

/**
 * Revokes an invitation. `actorId`: the user who revokes.
 * @throws AppError RESOURCE_NOT_FOUND unless the invitation waits, FORBIDDEN
 */
export async function revokeInvitation(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, id }: { projectId: string; id: string },
  actorId: string,
): Promise<void> {
  const at = now()
  await store.write(async (tx) => {
    await requireAdmin(tx, { projectId, userId: actorId })
    const isGiven = and(eq(invitations.id, id), eq(invitations.projectId, projectId))
    const revoked = await revokeWhere(tx, isGiven, at)
    if (revoked === 0) {
      throw notFound('invitation', id, 'The project has no open invitation with this id.')
    }
  })
}

/** Revokes all invitations from a user who may not invite any more. */
export async function revokeInvitationsBy(
  tx: Tx,
  { projectId, userId, at }: { projectId: string; userId: string; at: number },
): Promise<void> {
  const isBy = and(eq(invitations.projectId, projectId), eq(invitations.invitedBy, userId))
  await revokeWhere(tx, isBy, at)
}

/** Revokes the open invitations to an address that has become a member or is invited again. */
export async function revokeInvitationsTo(
  tx: Tx,
  { projectId, address, at }: { projectId: string; address: string; at: number },
): Promise<void> {
  const isTo = and(eq(invitations.projectId, projectId), eq(invitations.address, address))
  await revokeWhere(tx, isTo, at)
}

/** Returns the number of revoked invitations. */
async function revokeWhere(tx: Tx, which: SQL | undefined, at: number): Promise<number> {
  const revoked = await tx
    .update(invitations)
    .set({ revokedAt: at })
    .where(and(which, isUndecided()))
    .returning({ id: invitations.id })
  return revoked.length
}
