import { AppError } from '../../errors.ts'
import { and, eq } from '../../store/drizzle.ts'
import { type Domain, domains } from '../../store/schema/domains.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { findReferences, isUsed } from '../references/registry.ts'
import { domainNotFound } from './get.ts'
import { requireEnabledProject } from './ownership.ts'

const MAX_NAMED = 10

/**
 * Deletes a domain with its keys. Mail from the domain, including waiting mail, is no longer sent.
 * @throws AppError RESOURCE_NOT_FOUND, PROJECT_DISABLED, CONFLICT while templates send from it
 *   (`details.templates`: the first of them)
 */
export async function deleteDomain(
  { store, directory }: Pick<Base, 'store' | 'directory'>,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  await store.write(async (tx) => {
    await requireEnabledProject(tx, projectId)
    const isGiven = and(eq(domains.id, id), eq(domains.projectId, projectId))
    const domain = await tx.select().from(domains).where(isGiven).get()
    if (domain === undefined) throw domainNotFound(id)
    await refuseWhileUsed(tx, domain)
    await tx.delete(domains).where(isGiven)
    tx.afterCommit(directory.drop)
  })
}

async function refuseWhileUsed(tx: Tx, { projectId, domain }: Domain): Promise<void> {
  const references = await findReferences(tx, {
    projectId,
    referent: { kind: 'sending domain', domain },
    limit: MAX_NAMED,
  })
  if (!isUsed(references)) return
  const { templates, campaigns } = references
  const users = templates.length > 0 ? 'Templates' : 'Campaigns'
  throw new AppError('CONFLICT', `${users} of this project send from this domain.`, {
    details: { templates, campaigns },
    suggestion: 'Give those templates and campaigns another sender, or delete them, and try again.',
  })
}
