/** The arithmetic of an audience, of a stored campaign or of a draft that is not stored yet. */
import { z } from 'zod'
import { viewAudience } from '../../../features/campaigns/audience/count.ts'
import { loadCampaign } from '../../../features/campaigns/find.ts'
import { EVERYBODY, readAudience, requireAudience } from '../../../features/campaigns/validate.ts'
import { json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { campaignChanges, MAX_CAMPAIGN_BYTES } from '../../shapes/campaign-fields.ts'
import { instant } from '../../shapes/fields.ts'
import { uuidKeyOf } from '../../shapes/uuid-key.ts'

const audience = z.object({
  matching: z.int().meta({ description: 'The sum of the three numbers that follow' }),
  unsubscribed: z.int().meta({ description: '0 for a TRANSACTIONAL campaign' }),
  suppressed: z.int(),
  willReceive: z.int(),
  sample: z
    .array(z.object({ id: z.string(), email: z.string() }))
    .meta({ description: 'At most ten contacts that would get the campaign' }),
  asOf: instant,
})

const shared = { tag: 'Campaigns' } as const

export const count = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Count the audience of a draft that is not stored',
    description: 'The audience and the type matter; the other fields of a campaign are ignored.',
    body: campaignChanges,
    maxBodyBytes: MAX_CAMPAIGN_BYTES,
    responses: { 200: { description: 'The numbers', schema: audience } },
    refusals: [404],
    handle: async ({ project: { id: projectId }, body }) => {
      const given = readAudience(EVERYBODY, body)
      await requireAudience(core.store.read, projectId, given)
      const { type = 'MARKETING' } = body
      const data = await viewAudience(core, { projectId, type, ...given })
      return json(200, data)
    },
  })

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Count the audience of a campaign',
    responses: { 200: { description: 'The numbers', schema: audience } },
    refusals: [400, 404],
    handle: async (call) => {
      const campaign = await loadCampaign(core.store.read, uuidKeyOf(call))
      return json(200, await viewAudience(core, campaign))
    },
  })
