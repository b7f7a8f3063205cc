import { templates } from '../../store/schema/messages.ts'
import type { Base } from '../base.ts'
import { isTemplate, loadTemplate } from './get.ts'
import type { TemplateTarget } from './view.ts'

/** Emails made from it keep what they were made of. @throws AppError TEMPLATE_NOT_FOUND */
export async function deleteTemplate(
  { store, directory }: Pick<Base, 'store' | 'directory'>,
  target: TemplateTarget,
): Promise<void> {
  await store.write(async (tx) => {
    await loadTemplate(tx, target)
    await tx.delete(templates).where(isTemplate(target))
    tx.afterCommit(directory.drop)
  })
}
