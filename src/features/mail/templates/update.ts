import type { TemplateRecord } from '../../../records/template.ts'
import { type Template, templates } from '../../../store/schema/messages.ts'
import type { Base } from '../../ground/base.ts'
import { isTemplate, loadTemplate } from './get.ts'
import { checkFields, requireSender, type TemplateChanges, toColumns } from './validate.ts'
import { type TemplateKey, toTemplateRecord } from './view.ts'

/**
 * Changes the fields that are present; null clears a field. A new subject or body makes a new
 * version; emails that were accepted earlier keep their content.
 * @throws AppError TEMPLATE_NOT_FOUND, VALIDATION_ERROR, BAD_REQUEST (template syntax), FORBIDDEN
 */
export async function updateTemplate(
  { store, directory, outbound, now }: Pick<Base, 'store' | 'directory' | 'outbound' | 'now'>,
  { changes, ...key }: TemplateKey & { changes: TemplateChanges },
): Promise<TemplateRecord> {
  await checkFields({ outbound }, changes, () => loadTemplate(store.read, key))
  const columns = toColumns(changes)
  const row = await store.write(async (tx) => {
    const current = await loadTemplate(tx, key)
    if (changes.from !== undefined) await requireSender(tx, key.projectId, changes.from)
    if (!isChange(current, columns)) return current
    tx.afterCommit(directory.drop)
    return tx
      .update(templates)
      .set({ ...columns, version: nextVersion(current, columns), updatedAt: now() })
      .where(isTemplate(key))
      .returning()
      .get()
  })
  return toTemplateRecord(row)
}

function isChange(current: Template, columns: Partial<Template>): boolean {
  return Object.entries({ ...current, ...columns }).some(
    ([name, value]) => current[name as keyof Template] !== value,
  )
}

function nextVersion({ subject, body, version }: Template, columns: Partial<Template>): number {
  const isSame = (columns.subject ?? subject) === subject && (columns.body ?? body) === body
  return isSame ? version : version + 1
}
