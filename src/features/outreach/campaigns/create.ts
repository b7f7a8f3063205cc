import { type FieldError, invalid } from '../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../formats/address/address.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'
import { newId } from '../../../store/ids.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import type { Template } from '../../../store/schema/messages.ts'
import type { AudienceType } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { loadTemplate } from '../../mail/templates/templates.ts'
import { requireSender, toNewColumns } from '../../mail/templates/validate.ts'
import { countSoon } from './audience/total-recipients.ts'
import { loadCampaign } from './find.ts'
import {
  type CampaignChanges,
  checkCampaignFields,
  EVERYBODY,
  readAudience,
  requireAudience,
  scheduleBySending,
} from './validate.ts'
import { toCampaignRecord } from './view.ts'

/** `templateId`: subject, body, sender and type are copied from this template unless given. */
export type NewCampaign = { projectId: string; name: string; audienceType: AudienceType } & Omit<
  CampaignChanges,
  'audienceType'
>

/**
 * Creates a campaign in status DRAFT.
 * @throws AppError VALIDATION_ERROR; BAD_REQUEST (template syntax, a time, a condition that refers to
 *   an unknown segment); FORBIDDEN (sender domain); RESOURCE_NOT_FOUND (segment); TEMPLATE_NOT_FOUND
 */
export async function createCampaign(
  deps: Pick<Base, 'store' | 'outbound' | 'sharedRuns' | 'now' | 'log'>,
  { projectId, templateId = null, ...given }: NewCampaign,
): Promise<CampaignRecord> {
  if (given.scheduledFor != null) throw scheduleBySending()
  const template =
    templateId === null
      ? undefined
      : await loadTemplate(deps.store.read, { projectId, id: templateId })
  const fields = requireContent({ ...fieldsOf(template), ...given })
  // What stands in the template was checked when it was saved, by the rules of that time.
  await checkCampaignFields(deps, given)
  const audience = readAudience(EVERYBODY, fields)
  const id = newId()
  const at = deps.now()
  await deps.store.write(async (tx) => {
    await requireSender(tx, projectId, fields.from)
    await requireAudience(tx, projectId, audience)
    await tx.insert(campaigns).values({
      ...{ id, projectId, templateId, ...audience },
      ...toNewColumns(fields),
      maxPerHour: fields.maxPerHour ?? null,
      createdAt: at,
      updatedAt: at,
    })
  })
  await countSoon(deps, { projectId, id, totalRecipients: null })
  return toCampaignRecord(await loadCampaign(deps.store.read, { projectId, id }), at)
}

/** The content, which a template or the request has given. */
type Content = { subject: string; body: string; from: ParsedAddress }

function fieldsOf(template: Template | undefined): CampaignChanges {
  if (template === undefined) return {}
  const { subject, body, fromAddress, fromName, replyTo, type } = template
  return {
    ...{ subject, body, fromName, type },
    from: parseAddress(fromAddress),
    replyTo: replyTo === null ? null : parseAddress(replyTo),
  }
}

function requireContent<Fields extends CampaignChanges>(fields: Fields): Fields & Content {
  const { subject, body, from } = fields
  if (subject !== undefined && body !== undefined && from !== undefined) {
    return { ...fields, subject, body, from }
  }
  const missing = Object.entries({ subject, body, from }).filter(([, value]) => value === undefined)
  const required = ([field]: [string, unknown]): FieldError => ({
    ...{ field, code: 'invalid_type', message: 'Required' },
  })
  throw invalid(missing.map(required))
}
