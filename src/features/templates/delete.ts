import { templates } from '../../store/schema/messages.ts'
import type { Base } from '../base.ts'
import { isTemplate, loadTemplate } from './get.ts'
import { requireUnused } from './usage.ts'
import type { TemplateTarget } from './view.ts'

/**
 * Deletes a template. Emails that were made from the template keep their content.
 * @throws AppError TEMPLATE_NOT_FOUND; CONFLICT while a campaign or workflow uses the template
 */
export async function deleteTemplate(
  { store, directory }: Pick<Base, 'store' | 'directory'>,
  target: TemplateTarget,
): Promise<void> {
  await store.write(async (tx) => {
    await loadTemplate(tx, target)
    await requireUnused(tx, target)
    await tx.delete(templates).where(isTemplate(target))
    tx.afterCommit(directory.drop)
  })
}
