import { and, eq, type SQL } from '../../store/drizzle.ts'
import { type Template, templates } from '../../store/schema/messages.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { type TemplateTarget, type TemplateView, templateNotFound, toTemplateView } from './view.ts'

/** @throws AppError TEMPLATE_NOT_FOUND */
export async function getTemplate(
  { store }: Pick<Base, 'store'>,
  target: TemplateTarget,
): Promise<TemplateView> {
  return toTemplateView(await loadTemplate(store.read, target))
}

/** Returns the row. @throws AppError TEMPLATE_NOT_FOUND */
export async function loadTemplate(
  queries: Pick<Tx, 'select'>,
  target: TemplateTarget,
): Promise<Template> {
  const template = await queries.select().from(templates).where(isTemplate(target)).get()
  if (template === undefined) throw templateNotFound(target.id)
  return template
}

export function isTemplate({ projectId, id }: TemplateTarget): SQL | undefined {
  return and(eq(templates.id, id), eq(templates.projectId, projectId))
}
