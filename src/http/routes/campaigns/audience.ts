/** Counts the audience of a stored campaign, or of a draft that is not stored yet. */
import type { FieldWarning } from '../../../base/errors.ts'
import { readStoredCondition } from '../../../features/ground/conditions/condition.ts'
import { findUnsentCampaigns } from '../../../features/ground/conditions/find-misfits.ts'
import { findDraftType, viewAudience } from '../../../features/outreach/campaigns/audience/count.ts'
import type { CampaignAudience } from '../../../features/outreach/campaigns/audience/scope.ts'
import { loadCampaign } from '../../../features/outreach/campaigns/campaign.ts'
import {
  EVERYBODY_AUDIENCE,
  readAudience,
  requireAudience,
} from '../../../features/outreach/campaigns/validate.ts'
import { campaignAudience } from '../../../records/campaign.ts'
import { draftAudience, MAX_CAMPAIGN_BYTES } from '../../../records/campaign-request.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'
import { campaignNames, warnOfIgnored } from './names.ts'

const shared = { tag: 'Campaigns' } as const

export const count = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    isRead: true,
    summary: 'Count the audience of a draft that is not stored',
    description:
      'The audience matters, and the type, which is that of the template unless given. The other fields of ' +
      'a campaign are ignored.',
    names: campaignNames,
    body: draftAudience,
    maxBodyBytes: MAX_CAMPAIGN_BYTES,
    responses: { 200: { description: 'The numbers', schema: campaignAudience } },
    refusals: [404],
    example: examples.countAudience,
    handle: async ({ project: { id: projectId }, body, warn }) => {
      warnOfIgnored({ body, warn })
      const given = readAudience(EVERYBODY_AUDIENCE, body)
      await requireAudience(core.store.read, projectId, given)
      const type = await findDraftType(core.store.read, { projectId, ...body })
      const data = await viewAudience(core, { projectId, type, ...given })
      await warnOfUnsent(core, { campaign: { projectId, ...given }, warn })
      return json(200, data)
    },
  })

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Count the audience of a campaign',
    responses: { 200: { description: 'The numbers', schema: campaignAudience } },
    refusals: [400, 404],
    example: examples.showAudience,
    handle: async (call) => {
      const campaign = await loadCampaign(core.store.read, uuidKeyOf(call))
      const data = await viewAudience(core, campaign)
      await warnOfUnsent(core, { campaign, warn: call.warn })
      return json(200, data)
    },
  })

/** Warns of a condition on a campaign that no contact has got: such a condition selects everybody or nobody. */
async function warnOfUnsent(
  core: RouteDeps['core'],
  { campaign, warn }: { campaign: CampaignAudience; warn(warning: FieldWarning): void },
): Promise<void> {
  const { projectId, audienceType, audienceCondition } = campaign
  if (audienceType !== 'FILTERED') return
  const condition = readStoredCondition(audienceCondition, 'The campaign')
  for (const { message, fix } of await findUnsentCampaigns(core, projectId, condition)) {
    warn({ field: 'audienceCondition', message, suggestion: fix })
  }
}
