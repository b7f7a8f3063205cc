import { AppError } from '../../../base/errors.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { type Domain, domains } from '../../../store/schema/domains.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { References } from '../../ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../ground/references/registry.ts'
import { domainNotFound } from './get.ts'
import { requireEnabledProject } from './ownership.ts'

const MAX_NAMED = 10
const FOR_TEMPLATES = 'Give each template another sender, or delete it.'
const FOR_STEPS = 'A template that a step of a workflow sends cannot be deleted.'
const FOR_CAMPAIGNS =
  'Give each draft or scheduled campaign another sender; a draft can be deleted, a scheduled ' +
  'campaign cancelled. A campaign that is being sent must end or be cancelled first.'

/**
 * Deletes a domain with its keys. Mail from the domain, including waiting mail, is no longer sent.
 * @throws AppError RESOURCE_NOT_FOUND, PROJECT_DISABLED, CONFLICT while templates or unfinished
 *   campaigns send from it (`details`: the first of them, and of the steps of workflows that send such
 *   templates)
 */
export async function deleteDomain(
  deps: Pick<Base, 'store' | 'directory' | 'duties'>,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  const { store, directory } = deps
  await store.write(async (tx) => {
    await requireEnabledProject(tx, projectId)
    const isGiven = and(eq(domains.id, id), eq(domains.projectId, projectId))
    const domain = await tx.select().from(domains).where(isGiven).get()
    if (domain === undefined) throw domainNotFound(id)
    await refuseWhileUsed(deps, tx, domain)
    await tx.delete(domains).where(isGiven)
    tx.afterCommit(directory.drop)
  })
}

async function refuseWhileUsed(
  deps: Pick<Base, 'duties'>,
  tx: Tx,
  { projectId, domain }: Domain,
): Promise<void> {
  const references = await findReferences(deps, tx, {
    projectId,
    referent: { kind: 'sending domain', domain },
    limit: MAX_NAMED,
  })
  if (!isUsed(references)) return
  const { templates, campaigns, workflowSteps } = references
  const names = [...templates, ...campaigns].map(({ name }) => name).join(', ')
  const isCut = Math.max(templates.length, campaigns.length) === MAX_NAMED
  const more = isCut ? ', and perhaps others' : ''
  const text = `${kindsOf(references)} of this project send from this domain: ${names}${more}.`
  throw new AppError('CONFLICT', text, {
    details: { templates, campaigns, workflowSteps },
    suggestion: [
      ...(templates.length > 0 ? [FOR_TEMPLATES] : []),
      ...(workflowSteps.length > 0 ? [FOR_STEPS] : []),
      ...(campaigns.length > 0 ? [FOR_CAMPAIGNS] : []),
    ].join(' '),
  })
}

function kindsOf({ templates, campaigns }: References): string {
  if (campaigns.length === 0) return 'Templates'
  return templates.length === 0 ? 'Campaigns' : 'Templates and campaigns'
}
