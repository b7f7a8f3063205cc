/** Deletes a user; sessions, tokens, memberships and accounts at other providers go with the row. */
import { AppError } from '../../../../base/errors.ts'
import { and, asc, eq, isNull } from '../../../../store/drizzle.ts'
import { memberships, projects, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { parseUserAddress } from './address.ts'
import { getUserId } from './users.ts'

type OwnedProject = { id: string; name: string }

const MAX_NAMED = 10

/** @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, CONFLICT while the user owns projects */
export async function deleteUser(
  { store }: Pick<Base, 'store'>,
  email: string,
): Promise<{ id: string; email: string; deleted: true }> {
  const id = await store.write(async (tx) => {
    const id = await getUserId(tx, email)
    const owned = await listOwned(tx, id)
    if (owned.length > 0) throw ownsProjects(owned)
    await tx.delete(users).where(eq(users.id, id))
    return id
  })
  return { id, email: parseUserAddress(email), deleted: true }
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
