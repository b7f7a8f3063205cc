import { templates } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'
import { isTemplate, loadTemplate } from './get.ts'
import { requireUnused } from './usage.ts'
import type { TemplateKey } from './view.ts'

/**
 * Deletes a template. Emails that were made from the template keep their content.
 * @throws AppError TEMPLATE_NOT_FOUND; CONFLICT while a workflow uses the template
 */
export async function deleteTemplate(
  deps: Pick<Base, 'store' | 'directory' | 'duties'>,
  key: TemplateKey,
): Promise<void> {
  const { store, directory } = deps
  await store.write(async (tx) => {
    await loadTemplate(tx, key)
    await requireUnused(deps, tx, key)
    await tx.delete(templates).where(isTemplate(key))
    tx.afterCommit(directory.drop)
  })
}
