/** Creates campaigns: new ones, also from a template, and copies of others. Both are drafts. */
import { type FieldError, invalid } from '../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../formats/address/address.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'
import { newId } from '../../../store/ids.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { Template } from '../../../store/schema/messages.ts'
import type { AudienceType } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { copyName } from '../../ground/copy-name.ts'
import { loadTemplate } from '../../mail/templates/templates.ts'
import { requireSender, toNewColumns } from '../../mail/templates/validate.ts'
import { countSoon } from './audience/total-recipients.ts'
import { type CampaignKey, loadCampaign, toCampaignRecord } from './campaign.ts'
import {
  type CampaignChanges,
  checkCampaignFields,
  EVERYBODY,
  readAudience,
  requireAudience,
  scheduleBySending,
} from './validate.ts'

/** `templateId`: subject, body, sender and type are copied from this template unless given. */
type NewCampaign = { projectId: string; name: string; audienceType: AudienceType } & Omit<
  CampaignChanges,
  'audienceType'
>

/** The content that a template or the request gives. */
type Content = { subject: string; body: string; from: ParsedAddress }

/**
 * The columns that a copy does not take from its original: they describe the sending, not the
 * definition.
 */
const UNSENT: Partial<Campaign> = {
  status: 'DRAFT',
  version: 1,
  scheduledFor: null,
  totalRecipients: null,
  pausedAt: null,
  pauseReason: null,
  pauseDetails: null,
  sentAt: null,
  cancelledAt: null,
  archivedAt: null,
}

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
  // The fields of the template are not checked again: they were checked when it was saved, by the
  // rules of that time.
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

/** Copies a campaign and returns the copy. @throws AppError CAMPAIGN_NOT_FOUND */
export async function duplicateCampaign(
  deps: Pick<Base, 'store' | 'sharedRuns' | 'now' | 'log'>,
  key: CampaignKey,
): Promise<CampaignRecord> {
  const at = deps.now()
  const id = newId()
  await deps.store.write(async (tx) => {
    const { progress: _, segment: __, ...original } = await loadCampaign(tx, key)
    const own = { id, name: copyName(original.name), createdAt: at, updatedAt: at }
    await tx.insert(campaigns).values({ ...original, ...UNSENT, ...own })
  })
  const copy = { ...key, id }
  await countSoon(deps, { ...copy, totalRecipients: null })
  return toCampaignRecord(await loadCampaign(deps.store.read, copy), at)
}

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
