import { AppError } from '../../errors.ts'
import { count, eq } from '../../store/drizzle.ts'
import { emails } from '../../store/schema/messages.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { findReferences, isUsed, type Reference } from '../references/registry.ts'
import { loadTemplate } from './get.ts'
import type { TemplateKey } from './view.ts'

type TemplateUsage = {
  /** The number of steps of workflows that send the template. */
  workflowSteps: number
  /** The number of emails that were made from the template. */
  emailsSent: number
  campaigns: Reference[]
  workflows: Reference[]
}

/** Finds the campaigns, workflows and emails that use a template. @throws AppError TEMPLATE_NOT_FOUND */
export async function findTemplateUsage(
  { store }: Pick<Base, 'store'>,
  key: TemplateKey,
): Promise<TemplateUsage> {
  const { id } = await loadTemplate(store.read, key)
  const { campaigns, workflows, workflowSteps } = await findReferences(store.scan, {
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
    campaigns,
    workflows,
  }
}

/** @throws AppError CONFLICT while a campaign or workflow uses the template */
export async function requireUnused(tx: Tx, { projectId, id }: TemplateKey): Promise<void> {
  const references = await findReferences(tx, { projectId, referent: { kind: 'template', id } })
  if (!isUsed(references)) return
  throw new AppError('CONFLICT', 'A campaign or a workflow uses the template.', {
    details: { campaigns: references.campaigns, workflows: references.workflows },
  })
}
