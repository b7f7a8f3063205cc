import type { TemplateRecord } from '../../../records/template.ts'
import { newId } from '../../../store/ids.ts'
import { templates } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'
import { checkFields, type NewFields, requireSender, toNewColumns } from './validate.ts'
import { toTemplateRecord } from './view.ts'

export type NewTemplate = { projectId: string } & NewFields

/** @throws AppError VALIDATION_ERROR, BAD_REQUEST (template syntax), FORBIDDEN (sender domain) */
export async function createTemplate(
  { store, outbound, now }: Pick<Base, 'store' | 'outbound' | 'now'>,
  { projectId, ...fields }: NewTemplate,
): Promise<TemplateRecord> {
  await checkFields({ outbound }, fields)
  const at = now()
  const row = await store.write(async (tx) => {
    await requireSender(tx, projectId, fields.from)
    return tx
      .insert(templates)
      .values({
        id: newId(),
        projectId,
        ...toNewColumns(fields),
        createdAt: at,
        updatedAt: at,
      })
      .returning()
      .get()
  })
  return toTemplateRecord(row)
}
