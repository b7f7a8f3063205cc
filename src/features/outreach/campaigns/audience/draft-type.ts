/** The type that a campaign would have if it were created. */
import { type Template, templates } from '../../../../store/schema/messages.ts'
import type { ContentClass } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { isTemplate } from '../../../mail/templates/templates.ts'
import type { CampaignChanges } from '../validate.ts'

type Draft = Pick<CampaignChanges, 'type' | 'templateId'> & Pick<Template, 'projectId'>

/** The given type, else that of the template. An unknown template has none. */
export async function findDraftType(
  queries: Pick<Tx, 'select'>,
  { projectId, type, templateId }: Draft,
): Promise<ContentClass> {
  if (type !== undefined || templateId == null) return type ?? 'MARKETING'
  const row = await queries
    .select({ type: templates.type })
    .from(templates)
    .where(isTemplate({ projectId, id: templateId }))
    .get()
  return row?.type ?? 'MARKETING'
}
