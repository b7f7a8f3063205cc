import type { TemplateRecord } from '../../../records/template.ts'
import { and, eq, type SQL } from '../../../store/drizzle.ts'
import { type Template, templates } from '../../../store/schema/messages.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { type TemplateKey, templateNotFound, toTemplateRecord } from './view.ts'

/** @throws AppError TEMPLATE_NOT_FOUND */
export async function getTemplate(
  { store }: Pick<Base, 'store'>,
  key: TemplateKey,
): Promise<TemplateRecord> {
  return toTemplateRecord(await loadTemplate(store.read, key))
}

/** Returns the row. @throws AppError TEMPLATE_NOT_FOUND */
export async function loadTemplate(
  queries: Pick<Tx, 'select'>,
  key: TemplateKey,
): Promise<Template> {
  const template = await queries.select().from(templates).where(isTemplate(key)).get()
  if (template === undefined) throw templateNotFound(key.id)
  return template
}

export function isTemplate({ projectId, id }: TemplateKey): SQL | undefined {
  return and(eq(templates.id, id), eq(templates.projectId, projectId))
}
