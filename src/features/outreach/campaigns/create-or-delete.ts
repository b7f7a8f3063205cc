/**
 * Creates, copies, archives and deletes campaigns. New campaigns, also from a template, and copies are
 * drafts. The list leaves archived campaigns out unless a query asks for them; only drafts can be deleted.
 */
import { AppError, type FieldError, invalid, invalidField } from '../../../base/errors.ts'
import { type ParsedAddress, parseAddress } from '../../../formats/address/address.ts'
import type { CampaignRecord } from '../../../records/campaign.ts'
import { MAX_IDS_PER_REQUEST } from '../../../records/limits.ts'
import { and, eq, inArray } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { Template } from '../../../store/schema/messages.ts'
import type { AudienceType } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { copyName } from '../../ground/copy-name.ts'
import { loadTemplate } from '../../mail/templates/templates.ts'
import { requireSender, toNewColumns } from '../../mail/templates/validate.ts'
import { countSoon } from './audience/total-recipients.ts'
import {
  type CampaignKey,
  campaignNotFound,
  loadCampaign,
  toCampaignRecord,
  wrongStatus,
} from './campaign.ts'
import {
  type CampaignChanges,
  checkCampaignFields,
  EVERYBODY_AUDIENCE,
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
  // The fields that come from the template are not checked again: they were checked when the
  // template was saved, by the rules of that time.
  await checkCampaignFields(deps, given)
  const audience = readAudience(EVERYBODY_AUDIENCE, fields)
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

/** The suggestions in the error when a campaign cannot be deleted because it is no draft. */
const CANCEL = 'Cancel the campaign with POST /campaigns/:id/cancel first.'

const ARCHIVE = 'Archive the campaign with POST /campaigns/:id/archive.'

type BulkUpdate = {
  projectId: string
  ids: readonly string[]
  delete?: boolean | undefined
}

/**
 * Archives a campaign, or takes it out of the archive. The call may be repeated.
 * @throws AppError CAMPAIGN_NOT_FOUND, BAD_REQUEST (it is scheduled or being sent)
 */
export async function archiveCampaign(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { isArchived, ...key }: CampaignKey & { isArchived: boolean },
): Promise<CampaignRecord> {
  return store.write(async (tx) => {
    const campaign = await loadCampaign(tx, key)
    const { id, status } = campaign
    if (!mayBeArchived(status)) {
      const verb = isArchived ? 'archived' : 'taken out of the archive'
      throw wrongStatus(status, `be ${verb}`)
    }
    const at = now()
    if (isArchived === (campaign.archivedAt !== null)) return toCampaignRecord(campaign, at)
    const archivedAt = isArchived ? at : null
    await tx.update(campaigns).set({ archivedAt, updatedAt: at }).where(eq(campaigns.id, id))
    return toCampaignRecord(await loadCampaign(tx, key), at)
  })
}

/** Deletes a campaign in status DRAFT. @throws AppError CAMPAIGN_NOT_FOUND, CONFLICT */
export async function deleteCampaign(
  { store }: Pick<Base, 'store'>,
  key: CampaignKey,
): Promise<void> {
  await store.write(async (tx) => deleteDraft(tx, await loadCampaign(tx, key)))
}

/**
 * Deletes all of the given drafts or none. Deletion is the only bulk change that exists.
 * @throws AppError VALIDATION_ERROR; CAMPAIGN_NOT_FOUND when the project lacks one of them;
 *   CONFLICT when one is not a draft
 */
export async function bulkUpdateCampaigns(
  { store }: Pick<Base, 'store'>,
  { projectId, ids, delete: isDelete = false }: BulkUpdate,
): Promise<{ deleted: number } | { updated: 0 }> {
  if (ids.length === 0) throw invalidField('ids', 'too_small', 'At least one id is needed')
  if (ids.length > MAX_IDS_PER_REQUEST) {
    throw invalidField('ids', 'too_big', `At most ${MAX_IDS_PER_REQUEST} ids`)
  }
  const wanted = [...new Set(ids)]
  return store.write(async (tx) => {
    const rows = await tx
      .select({ id: campaigns.id, status: campaigns.status })
      .from(campaigns)
      .where(and(eq(campaigns.projectId, projectId), inArray(campaigns.id, wanted)))
    const known = new Set(rows.map(({ id }) => id))
    const missing = wanted.find((id) => !known.has(id))
    if (missing !== undefined) throw campaignNotFound(missing)
    if (!isDelete) return { updated: 0 }
    for (const row of rows) await deleteDraft(tx, row)
    return { deleted: rows.length }
  })
}

/** @throws AppError CONFLICT unless the campaign is a draft */
async function deleteDraft(tx: Tx, { id, status }: Pick<Campaign, 'id' | 'status'>): Promise<void> {
  if (status !== 'DRAFT') {
    throw new AppError('CONFLICT', `A campaign that is ${status} cannot be deleted.`, {
      details: { resource: 'campaign', id, status },
      suggestion: mayBeArchived(status) ? ARCHIVE : `${CANCEL} ${ARCHIVE}`,
    })
  }
  await tx.delete(campaigns).where(eq(campaigns.id, id))
}

function mayBeArchived(status: Campaign['status']): boolean {
  return status !== 'SCHEDULED' && status !== 'SENDING'
}
