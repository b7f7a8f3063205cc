/**
 * Figures of mail by the time of its acceptance: in total, over time, by provider and by sender.
 */
import { z } from 'zod'
import { createAnalyticsAnswers } from '../../../features/insight/analytics/answers.ts'
import {
  findDeliverability,
  findLeaderboard,
  findOverview,
  MAX_PROVIDERS,
} from '../../../features/insight/analytics/mail-figures.ts'
import {
  analyticsDeliverability,
  analyticsLeaderboard,
  analyticsOverview,
  leaderboardQuery,
} from '../../../records/analytics.ts'
import { rangeParameters } from '../../../records/analytics-range.ts'
import { METRIC_NAMES } from '../../../records/words.ts'
import { completeHeader } from '../../exchange/complete-header.ts'
import { RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import * as examples from './examples.ts'
import { answerRange, readAsked } from './respond.ts'

const shared = {
  tag: 'Analytics',
  tagText:
    'How mail fared: by day and hour, provider, campaign, link; and how often events happened.',
} as const
const good = { isTableToo: true, headers: completeHeader, description: 'The figures' } as const

export const showOverview = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findOverview)
  return projectOperation({
    ...shared,
    summary: 'Show the figures of all mail of a range, and of the equal range before',
    description: 'Emails count by the instant of their acceptance, so no rate is above 100.',
    query: z.object(rangeParameters),
    responses: { 200: { ...good, schema: analyticsOverview } },
    example: examples.showOverview,
    handle: async (call) => {
      const asked = readAsked(deps, call.query)
      const answer = await find(call.project, asked)
      return answerRange(call, { asked, answer }, (value) => ({
        name: 'overview',
        columns: ['period', 'stream', ...METRIC_NAMES],
        rows: [
          { period: 'current', stream: asked.stream, ...value.current },
          { period: 'previous', stream: asked.stream, ...value.previous },
          ...value.streams.map((row) => ({ period: 'current', ...row })),
        ],
      }))
    },
  })
}

export const showDeliverability = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findDeliverability)
  return projectOperation({
    ...shared,
    summary: 'Show bounces and complaints, and how mail fared with each receiving provider',
    description: `At most ${MAX_PROVIDERS} providers, those with most mail first.`,
    query: z.object(rangeParameters),
    responses: { 200: { ...good, schema: analyticsDeliverability } },
    example: examples.showDeliverability,
    handle: async (call) => {
      const asked = readAsked(deps, call.query)
      const answer = await find(call.project, asked)
      return answerRange(call, { asked, answer }, (value) => ({
        name: 'deliverability',
        columns: ['provider', ...METRIC_NAMES, 'hardBounces', 'softBounces'],
        rows: value.providers,
      }))
    },
  })
}

export const showLeaderboard = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findLeaderboard)
  return projectOperation({
    ...shared,
    summary: 'List the campaigns, templates or workflows with most mail, or by another metric',
    answerBytes: RECORD_ANSWER_BYTES,
    query: leaderboardQuery,
    responses: { 200: { ...good, schema: analyticsLeaderboard } },
    example: examples.showLeaderboard,
    handle: async (call) => {
      const { kind = 'campaigns', sort = 'sent', limit } = call.query
      const asked = readAsked(deps, call.query)
      const answer = await find(call.project, { ...asked, kind, sort, limit })
      return answerRange(call, { asked, answer }, (value) => ({
        name: kind,
        columns: ['id', 'name', ...METRIC_NAMES],
        rows: value.rows,
      }))
    },
  })
}
