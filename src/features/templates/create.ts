import { newId } from '../../store/ids.ts'
import { templates } from '../../store/schema/messages.ts'
import type { ContentClass } from '../../store/schema/words.ts'
import type { Base } from '../base.ts'
import {
  checkFields,
  requireSender,
  type TemplateChanges,
  type TemplateFields,
} from './validate.ts'
import { type TemplateView, toTemplateView } from './view.ts'

type Mandatory = Pick<TemplateFields, 'name' | 'subject' | 'body' | 'from'>
export type NewTemplate = { projectId: string } & Omit<TemplateChanges, keyof Mandatory> & Mandatory

const DEFAULT_TYPE: ContentClass = 'MARKETING'

/** @throws AppError VALIDATION_ERROR, BAD_REQUEST (template syntax), FORBIDDEN (sender domain) */
export async function createTemplate(
  { store, outbound, now }: Pick<Base, 'store' | 'outbound' | 'now'>,
  { projectId, ...fields }: NewTemplate,
): Promise<TemplateView> {
  await checkFields({ outbound }, fields)
  const at = now()
  const row = await store.write(async (tx) => {
    await requireSender(tx, projectId, fields.from)
    return tx
      .insert(templates)
      .values({
        id: newId(),
        projectId,
        name: fields.name,
        description: fields.description ?? null,
        subject: fields.subject,
        body: fields.body,
        fromAddress: fields.from.address,
        fromDomain: fields.from.domain,
        fromName: fields.fromName ?? null,
        replyTo: fields.replyTo?.address ?? null,
        type: fields.type ?? DEFAULT_TYPE,
        createdAt: at,
        updatedAt: at,
      })
      .returning()
      .get()
  })
  return toTemplateView(row)
}
