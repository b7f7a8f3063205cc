/**
 * Disables and enables projects, in the caller's transaction. `features/mail/messages/disabled`
 * then puts their mail aside or back; campaigns and workflows follow in code of their own.
 */
import { and, eq, isNotNull, isNull, or, sql } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import { reputationTotals } from '../../../../store/schema/reputation.ts'
import type { DisabledReason } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { enqueuePlatformMail } from '../platform-mail/enqueue.ts'

type Deps = Pick<Base, 'directory'>

/**
 * Disables a project and tells its members. A disabled project only gets the new reason. A project
 * that is being reset is closed without a reason; its first reason disables it and is told to its
 * members. Returns whether the project was enabled.
 */
export async function disableProject(
  { directory }: Deps,
  tx: Tx,
  { projectId, reason, at }: { projectId: string; reason: DisabledReason; at: number },
): Promise<boolean> {
  const isKept = and(eq(projects.id, projectId), isNull(projects.deletedAt))
  tx.afterCommit(directory.drop)
  const [disabled] = await tx
    .update(projects)
    .set({ isDisabled: true, disabledReason: reason, disabledAt: at, updatedAt: at })
    .where(and(isKept, eq(projects.isDisabled, false)))
    .returning({ id: projects.id })
  if (disabled !== undefined) {
    await enqueuePlatformMail(tx, { kind: 'project-disabled', projectId }, at)
    return true
  }
  const before = await tx
    .select({ reason: projects.disabledReason, resetSince: projects.resetSince })
    .from(projects)
    .where(isKept)
    .get()
  await tx
    .update(projects)
    .set({
      disabledReason: reason,
      disabledAt: sql`coalesce(${projects.disabledAt}, ${at})`,
      updatedAt: at,
    })
    .where(isKept)
  const isNew = before !== undefined && before.resetSince !== null && before.reason === null
  if (isNew) await enqueuePlatformMail(tx, { kind: 'project-disabled', projectId }, at)
  return false
}

/**
 * Enables a project that was disabled; its reputation counts from now, unless it `keepsReputation`.
 * A project that is being reset stays disabled, but without a reason.
 */
export async function enableProject(
  { directory }: Deps,
  tx: Tx,
  {
    projectId,
    at,
    keepsReputation = false,
  }: { projectId: string; at: number; keepsReputation?: boolean },
): Promise<void> {
  tx.afterCommit(directory.drop)
  const [enabled] = await tx
    .update(projects)
    .set({
      isDisabled: sql`${projects.resetSince} is not null`,
      disabledReason: null,
      disabledAt: null,
      ...(keepsReputation ? {} : { reputationSince: at }),
      updatedAt: at,
    })
    .where(
      and(
        eq(projects.id, projectId),
        eq(projects.isDisabled, true),
        isNull(projects.deletedAt),
        or(isNull(projects.resetSince), isNotNull(projects.disabledReason)),
      ),
    )
    .returning({ id: projects.id })
  if (enabled === undefined || keepsReputation) return
  await tx.delete(reputationTotals).where(eq(reputationTotals.projectId, projectId))
}
