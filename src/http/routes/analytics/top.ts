/**
 * Figures for older clients of this API family: they count by UTC days, and have no facts about the
 * range.
 */
import { z } from 'zod'
import { createAnalyticsAnswers } from '../../../features/insight/analytics/answers.ts'
import {
  findCampaignStats,
  findTopCampaigns,
  findTopEvents,
} from '../../../features/insight/analytics/subject-figures.ts'
import { analyticsCampaignStats, topCampaigns, topEvents } from '../../../records/analytics-days.ts'
import { dateParameters } from '../../../records/analytics-range.ts'
import { countParameter } from '../../../records/page.ts'
import { completeHeader } from '../../exchange/complete-header.ts'
import { RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { jsonOrTable } from '../../exchange/table.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import * as examples from './examples.ts'
import { answerWith, readDates } from './respond.ts'

const MAX_TOP = 100

const shared = { tag: 'Analytics' } as const

export const listTopCampaigns = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findTopCampaigns)
  return projectOperation({
    ...shared,
    summary: 'List the campaigns sent in a range that most recipients opened',
    answerBytes: RECORD_ANSWER_BYTES,
    query: z.object({ ...dateParameters, limit: countParameter({ fallback: 10, cap: MAX_TOP }) }),
    responses: { 200: { description: 'The campaigns', schema: topCampaigns, isTableToo: true } },
    example: examples.listTopCampaigns,
    handle: async (call) => {
      const { range } = readDates(deps, call.query)
      const { value } = await find(call.project, { range, limit: call.query.limit })
      return jsonOrTable(call.incoming.headers.accept, value, () => ({
        name: 'top-campaigns',
        columns: Object.keys(topCampaigns.element.shape),
        rows: value,
      }))
    },
  })
}

export const showCampaignStats = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findCampaignStats)
  return projectOperation({
    ...shared,
    summary: 'Show how many campaigns there are, and their average rates',
    query: z.object(dateParameters),
    responses: {
      200: { description: 'The figures', schema: analyticsCampaignStats, isTableToo: true },
    },
    example: examples.showCampaignStats,
    handle: async (call) => {
      const { range } = readDates(deps, call.query)
      const { value } = await find(call.project, { range })
      return jsonOrTable(call.incoming.headers.accept, value, () => ({
        name: 'campaign-stats',
        columns: Object.keys(analyticsCampaignStats.shape),
        rows: [value],
      }))
    },
  })
}

export const listTopEvents = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findTopEvents)
  return projectOperation({
    ...shared,
    summary: 'List the most frequent events of a range, with their trend',
    answerBytes: RECORD_ANSWER_BYTES,
    query: z.object({ ...dateParameters, limit: countParameter({ fallback: 5, cap: MAX_TOP }) }),
    responses: {
      200: {
        description: 'The events',
        schema: topEvents,
        isTableToo: true,
        headers: completeHeader,
      },
    },
    example: examples.listTopEvents,
    handle: async (call) => {
      const asked = readDates(deps, call.query)
      const answer = await find(call.project, { ...asked, limit: call.query.limit })
      return answerWith(call, answer, () => ({
        name: 'top-events',
        columns: Object.keys(topEvents.element.shape),
        rows: answer.value,
      }))
    },
  })
}
