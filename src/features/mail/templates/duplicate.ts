import type { TemplateRecord } from '../../../records/template.ts'
import { newId } from '../../../store/ids.ts'
import { templates } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'
import { copyName } from '../../ground/copy-name.ts'
import { loadTemplate } from './get.ts'
import { type TemplateKey, toTemplateRecord } from './view.ts'

/** Returns the copy. @throws AppError TEMPLATE_NOT_FOUND */
export async function duplicateTemplate(
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: TemplateKey,
): Promise<TemplateRecord> {
  const at = now()
  const row = await store.write(async (tx) => {
    const original = await loadTemplate(tx, key)
    const own = { id: newId(), name: copyName(original.name), version: 1 }
    return tx
      .insert(templates)
      .values({ ...original, ...own, createdAt: at, updatedAt: at })
      .returning()
      .get()
  })
  return toTemplateRecord(row)
}
