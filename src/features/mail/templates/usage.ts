import { AppError } from '../../../base/errors.ts'
import { and, asc, count, eq } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { emails } from '../../../store/schema/messages.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { Reference } from '../../ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../ground/references/registry.ts'
import { loadTemplate } from './get.ts'
import type { TemplateKey } from './view.ts'

type TemplateUsage = {
  /** The number of steps of workflows that send the template. */
  workflowSteps: number
  /** The number of emails that were made from the template. */
  emailsSent: number
  campaigns: Reference[]
  workflows: Reference[]
  /** The steps, named `Onboarding / Welcome mail`. */
  steps: Reference[]
}

/** Finds the campaigns, workflows and emails that use a template. @throws AppError TEMPLATE_NOT_FOUND */
export async function findTemplateUsage(
  deps: Pick<Base, 'store' | 'duties'>,
  key: TemplateKey,
): Promise<TemplateUsage> {
  const { store } = deps
  const { id } = await loadTemplate(store.read, key)
  const { workflows, workflowSteps } = await findReferences(deps, store.scan, {
    projectId: key.projectId,
    referent: { kind: 'template', id },
  })
  const [made] = await store.scan
    .select({ total: count() })
    .from(emails)
    .where(eq(emails.templateId, id))
  return {
    workflowSteps: workflowSteps.length,
    emailsSent: made?.total ?? 0,
    campaigns: await findCampaigns(store.scan, key),
    workflows,
    steps: workflowSteps,
  }
}

/** The campaigns that were made from the template, oldest first. They hold copies of its content. */
function findCampaigns(
  queries: Pick<Tx, 'select'>,
  { projectId, id }: TemplateKey,
): Promise<Reference[]> {
  return queries
    .select({ id: campaigns.id, name: campaigns.name })
    .from(campaigns)
    .where(and(eq(campaigns.templateId, id), eq(campaigns.projectId, projectId)))
    .orderBy(asc(campaigns.createdAt), asc(campaigns.id))
    .all()
}

/** @throws AppError CONFLICT while a workflow uses the template */
export async function requireUnused(
  deps: Pick<Base, 'duties'>,
  tx: Tx,
  { projectId, id }: TemplateKey,
): Promise<void> {
  const references = await findReferences(deps, tx, {
    projectId,
    referent: { kind: 'template', id },
  })
  if (!isUsed(references)) return
  const { workflows, workflowSteps: steps } = references
  throw new AppError('CONFLICT', 'A workflow uses the template.', {
    suggestion: 'Give the steps that send it another template, or remove them.',
    details: { workflows, steps },
  })
}
