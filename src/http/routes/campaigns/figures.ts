/** The results of a campaign: its figures, its recipients by outcome, and its links. */
import { z } from 'zod'
import { listingOf } from '../../../features/ground/listing.ts'
import { exportRecipients } from '../../../features/outreach/campaigns/figures/export-recipients.ts'
import {
  listClickedLinks,
  viewStats,
} from '../../../features/outreach/campaigns/figures/figures.ts'
import {
  listRecipients,
  OUTCOMES,
} from '../../../features/outreach/campaigns/figures/recipients.ts'
import { createExportSlots } from '../../../features/people/import-export/export-slots.ts'
import {
  campaignExample,
  campaignStats,
  clickedLinks,
  recipientPage,
} from '../../../records/campaign.ts'
import { enveloped } from '../../../records/envelope.ts'
import { pageParameters } from '../../../records/page.ts'
import {
  arrayResponse,
  EXPORT_ANSWER_BYTES,
  LIST_ANSWER_BYTES,
  pageResponse,
} from '../../exchange/list-response.ts'
import {
  CSV_TYPE,
  csvResponse,
  jsonOrTable,
  prefers,
  recordTable,
  varyingByType,
} from '../../exchange/table.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'

const outcome = z.enum(OUTCOMES)
const outcomeParameters = {
  outcome: outcome.optional().meta({ description: 'All recipients if absent' }),
  type: outcome.optional().meta({ description: 'The same as outcome' }),
}
const hasOneOutcome = {
  check: (given: { outcome?: string | undefined; type?: string | undefined }) =>
    given.outcome === undefined || given.type === undefined || given.outcome === given.type,
  refusal: { path: ['type'], message: 'Give either outcome or type' },
}

const recipientsQuery = z
  .object({
    ...outcomeParameters,
    ...pageParameters,
  })
  .refine(hasOneOutcome.check, hasOneOutcome.refusal)

const exportQuery = z
  .strictObject({
    ...outcomeParameters,
    data: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: 'Adds a column for each field of the contacts, `data.<field>`' }),
  })
  .refine(hasOneOutcome.check, hasOneOutcome.refusal)

const shared = { tag: 'Campaigns', refusals: [404] } as const

export const showStats = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the figures of a campaign',
    description:
      'At most a second behind. Opens and clicks of machines do not count, and figures do not ' +
      'shrink when contacts are deleted.',
    responses: {
      200: {
        description: 'The figures',
        schema: enveloped(campaignStats),
        isTableToo: true,
      },
    },
    example: () => ({
      params: { id: campaignExample.id },
      status: 200,
      response: {
        success: true,
        data: {
          totalRecipients: 0,
          sentCount: 0,
          deliveredCount: 0,
          openedCount: 0,
          clickedCount: 0,
          bouncedCount: 0,
          complainedCount: 0,
          unsubscribedCount: 0,
          failedCount: 0,
          openRate: 0,
          clickRate: 0,
          bounceRate: 0,
          deliveryRate: 0,
          complaintRate: 0,
          unsubscribeRate: 0,
          skipped: { suppressed: 0, unsubscribed: 0, deleted: 0 },
          pending: 0,
          deferred: 0,
          machineOpens: 0,
          machineClicks: 0,
        },
      },
    }),
    handle: async (call) => {
      const key = uuidKeyOf(call)
      const data = await viewStats(core, key)
      return jsonOrTable(call.incoming.headers.accept, { success: true, data }, () =>
        recordTable(`campaign-${key.id}`, data),
      )
    },
  })

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the recipients of a campaign',
    description:
      '`skipped`: suppressed, or unsubscribed before delivery. A page of a rare outcome may be ' +
      'short although there are more: go on until `cursor` is null.',
    query: recipientsQuery,
    csvWay: 'For CSV: GET /campaigns/:id/recipients/export',
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: recipientPage } },
    example: () => ({
      params: { id: campaignExample.id },
      query: { outcome: 'bounced' },
      status: 200,
      response: { data: [], cursor: null, hasMore: false, total: 0 },
    }),
    handle: async (call) => {
      const { outcome: given, type, limit, cursor } = call.query
      const wanted = { ...uuidKeyOf(call), outcome: given ?? type, limit, cursor }
      return pageResponse(call, { name: 'data', listing: await listRecipients(core, wanted) })
    },
  })

export const exportCsv = ({ core }: RouteDeps) => {
  const slots = createExportSlots()
  return projectOperation({
    ...shared,
    summary: 'Export the recipients of a campaign as CSV',
    description:
      'The columns are the fields of the list up to `reason`, then `openedAt`, `clickedAt` and `clicks`. Text that a spreadsheet program would run as a ' +
      'formula is prefixed with an apostrophe. A project can have 2 such exports open at a time ' +
      'and the server 8; further ones are refused with 429.',
    query: exportQuery,
    answerBytes: EXPORT_ANSWER_BYTES,
    responses: { 200: { description: 'The file', contentType: 'text/csv' } },
    example: () => ({
      params: { id: campaignExample.id },
      status: 200,
      response: 'emailId,contactId,email,occurredAt,status,reason,openedAt,clickedAt,clicks\r\n',
    }),
    handle: async (call) => {
      const { outcome: given, type, data } = call.query
      const key = uuidKeyOf(call)
      const wanted = { ...key, outcome: given ?? type, hasData: data === 'true' }
      const body = await exportRecipients({ ...core, slots }, wanted)
      return {
        status: 200,
        body,
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': `attachment; filename="recipients-${key.id}.csv"`,
        },
      }
    },
  })
}

export const showLinks = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List the links of a campaign by their clicks',
    description:
      'The 1,000 links with most clicks. `uniqueClickers` counts recipients who followed the link.',
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'The links', schema: clickedLinks, isTableToo: true } },
    example: () => ({ params: { id: campaignExample.id }, status: 200, response: [] }),
    handle: async (call) => {
      const key = uuidKeyOf(call)
      const found = await listClickedLinks(core, key)
      if (prefers(CSV_TYPE, call.incoming.headers.accept)) {
        const columns = ['url', 'clicks', 'uniqueClickers']
        return csvResponse({ name: `links-${key.id}`, columns, rows: found })
      }
      const listing = listingOf(found, ({ url }) => url.length)
      return varyingByType(await arrayResponse(call, listing))
    },
  })
