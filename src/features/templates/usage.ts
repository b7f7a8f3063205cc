import { count, eq } from '../../store/drizzle.ts'
import { emails } from '../../store/schema/messages.ts'
import type { Base } from '../base.ts'
import { loadTemplate } from './get.ts'
import type { TemplateTarget } from './view.ts'

export type TemplateReference = { id: string; name: string }

export type TemplateUsage = {
  /** How many steps of workflows send it. */
  workflowSteps: number
  /** How many emails were made from it. */
  emailsSent: number
  campaigns: TemplateReference[]
  workflows: TemplateReference[]
}

/** @throws AppError TEMPLATE_NOT_FOUND */
export async function templateUsage(
  { store }: Pick<Base, 'store'>,
  target: TemplateTarget,
): Promise<TemplateUsage> {
  const { id } = await loadTemplate(store.read, target)
  const [made] = await store.scan
    .select({ total: count() })
    .from(emails)
    .where(eq(emails.templateId, id))
  return { workflowSteps: 0, emailsSent: made?.total ?? 0, campaigns: [], workflows: [] }
}
