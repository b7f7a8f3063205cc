/** The campaigns of a project: their definitions. */
import { z } from 'zod'
import { withEnd } from '../../../features/ground/listing.ts'
import {
  archiveCampaign,
  bulkUpdateCampaigns,
  createCampaign,
  deleteCampaign,
  duplicateCampaign,
} from '../../../features/outreach/campaigns/create-or-delete.ts'
import { listCampaigns, loadShownCampaign } from '../../../features/outreach/campaigns/show.ts'
import { updateCampaign } from '../../../features/outreach/campaigns/update.ts'
import { bulkChange, bulkResult } from '../../../records/bulk.ts'
import {
  type CampaignRecord,
  campaignPage,
  campaignQuery,
  campaignResponse,
  shownCampaignResponse,
} from '../../../records/campaign.ts'
import {
  campaignChanges,
  MAX_CAMPAIGN_BYTES,
  newCampaign,
} from '../../../records/campaign-request.ts'
import { numbersOf, PAGING_TEXT, pagingOf } from '../../../records/page.ts'
import { warnOfForeign } from '../../edit-warnings.ts'
import { readIfMatch } from '../../exchange/if-match.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { LIST_ANSWER_BYTES, pageResponse, wholeResponse } from '../../exchange/list-response.ts'
import { type HttpResponse, json } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { uuidKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'
import { campaignNames, warnOfIgnored } from './names.ts'
import { warnOfTransactional } from './transactional.ts'

const deleted = z.object({ success: z.literal(true), message: z.string() })

const shared = {
  tag: 'Campaigns',
  tagText: 'Emails to the contacts of an audience, each of whom gets one.',
} as const

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List campaigns',
    description: PAGING_TEXT,
    query: campaignQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: campaignPage } },
    example: examples.list,
    handle: async (call) => {
      const { archived, status, search, sort, dir } = call.query
      const { isNumbered, pageSize, ...place } = pagingOf(call.query)
      const found = await listCampaigns(core, {
        ...{ projectId: call.project.id, status, search, sort, dir, pageSize, ...place },
        isArchived: archived === 'true',
      })
      const { total, page, archivedCount } = found
      const numbers = numbersOf({ total, page, pageSize })
      const listing = withEnd(found.listing, (end) => ({ ...numbers, ...end, archivedCount }))
      return (isNumbered ? wholeResponse : pageResponse)(call, { name: 'data', listing })
    },
  })

export const create = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Create a campaign',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'The new campaign is a DRAFT. `warnings` says so if it goes to unsubscribed contacts, too.',
    names: campaignNames,
    body: newCampaign,
    maxBodyBytes: MAX_CAMPAIGN_BYTES,
    responses: { 201: { description: 'Created', schema: campaignResponse } },
    refusals: [403, 404],
    example: examples.create,
    handle: async ({ project, body, warn }) => {
      const created = await createCampaign(core, { projectId: project.id, ...body })
      warnOfIgnored({ body, warn })
      warnOfTransactional(created, { warn, isCopied: body.type === undefined })
      warnOfForeign(created, warn)
      return respond(201, created)
    },
  })

export const get = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show a campaign',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'The header `ETag` holds the version, for `If-Match` of a change.',
    responses: { 200: { description: 'The campaign', schema: shownCampaignResponse } },
    refusals: [404],
    example: examples.get,
    handle: async (call) => respond(200, await loadShownCampaign(core, uuidKeyOf(call))),
  })

export const update = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Change a campaign',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'Changes the fields that are given. While the campaign is SENDING, only `name`, `description` ' +
      'and `maxPerHour` can change; once it is SENT or CANCELLED, nothing. With the header ' +
      '`If-Match: "3"` the change is made to version 3 only: any other version is answered with 412 ' +
      'and the current record in `error.details.current`.',
    names: campaignNames,
    body: campaignChanges,
    maxBodyBytes: MAX_CAMPAIGN_BYTES,
    responses: { 200: { description: 'The campaign after the change', schema: campaignResponse } },
    refusals: [403, 404, 412],
    example: examples.update,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const key = uuidKeyOf(call)
      const changed = await updateCampaign(core, { ...key, changes: call.body, isExpected })
      warnOfIgnored(call)
      warnOfTransactional(changed, call)
      warnOfForeign(call.body, call.warn)
      return respond(200, changed)
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete a draft',
    responses: { 200: { description: 'Deleted', schema: deleted } },
    refusals: [404, 409],
    example: examples.remove,
    handle: async (call) => {
      await deleteCampaign(core, uuidKeyOf(call))
      return json(200, { success: true, message: 'The campaign was deleted.' })
    },
  })

export const duplicate = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Copy a campaign',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'The copy is a DRAFT, whatever the status of the original.',
    responses: { 201: { description: 'The copy', schema: campaignResponse } },
    refusals: [404],
    example: examples.duplicate,
    handle: async (call) => {
      const copy = await duplicateCampaign(core, uuidKeyOf(call))
      warnOfTransactional(copy, call)
      warnOfForeign(copy, call.warn)
      return respond(201, copy)
    },
  })

export const archive = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Archive a campaign',
    answerBytes: RECORD_ANSWER_BYTES,
    description: 'A DRAFT, or a campaign that is SENT or CANCELLED, leaves the list.',
    responses: { 200: { description: 'The campaign', schema: campaignResponse } },
    refusals: [400, 404],
    example: examples.archive,
    handle: async (call) =>
      respond(200, await archiveCampaign(core, { ...uuidKeyOf(call), isArchived: true })),
  })

export const unarchive = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Take a campaign out of the archive',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The campaign', schema: campaignResponse } },
    refusals: [400, 404],
    example: examples.unarchive,
    handle: async (call) =>
      respond(200, await archiveCampaign(core, { ...uuidKeyOf(call), isArchived: false })),
  })

export const bulkUpdate = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    growsDisk: false,
    summary: 'Delete all of the given drafts or none',
    body: bulkChange,
    responses: { 200: { description: 'The number of campaigns', schema: bulkResult } },
    refusals: [404, 409],
    example: examples.bulkUpdate,
    handle: async ({ project, body }) =>
      json(200, await bulkUpdateCampaigns(core, { projectId: project.id, ...body })),
  })

function respond(status: number, campaign: CampaignRecord): HttpResponse {
  const { headers, ...response } = largeJson(status, { success: true, data: campaign })
  return { ...response, headers: { ...headers, etag: `"${campaign.version}"` } }
}
