/** Changes of a project by its owner and admins: settings and keys. */
import { formatInstant } from '../../../../base/clock.ts'
import type { ProjectRecord, ProjectWithNewKeys } from '../../../../records/project.ts'
import { eq } from '../../../../store/drizzle.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { type Actor, noProject, requireAdmin } from '../members/require-admin.ts'
import { makeKeys } from './keys.ts'
import { type ProjectSettings, readSettings, replaceKeys } from './projects.ts'
import { toProjectRecord } from './record.ts'

type ChangeDeps = Pick<Base, 'store' | 'directory' | 'now'>

/** @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND, FORBIDDEN */
export async function changeSettings(
  { store, directory, now }: ChangeDeps,
  actor: Actor,
  settings: ProjectSettings,
): Promise<ProjectRecord> {
  const { projectId } = actor
  const change = { ...readSettings(settings), updatedAt: now() }
  return store.write(async (tx) => {
    const role = await requireAdmin(tx, actor)
    tx.afterCommit(directory.drop)
    const [row] = await tx
      .update(projects)
      .set(change)
      .where(eq(projects.id, projectId))
      .returning()
    if (row === undefined) throw noProject(projectId)
    return toProjectRecord(row, role)
  })
}

/** The old keys stop working at once. @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN */
export async function regenerateOwnKeys(
  { store, directory, now }: ChangeDeps,
  actor: Actor,
): Promise<ProjectWithNewKeys> {
  const keys = makeKeys()
  const at = now()
  const project = await store.write(async (tx) => {
    await requireAdmin(tx, actor)
    tx.afterCommit(directory.drop)
    return replaceKeys(tx, actor.projectId, { keys, at })
  })
  if (project === undefined) throw noProject(actor.projectId)
  return {
    id: project.id,
    name: project.name,
    public: keys.publicKey,
    secret: keys.secretKey,
    createdAt: formatInstant(project.createdAt),
    updatedAt: formatInstant(project.updatedAt),
    disabled: project.isDisabled,
    customer: project.customer,
    subscription: project.subscription,
  }
}
