/** Figures of mail, by the instant of acceptance: of all of it, by time, by provider, by sender. */

import { z } from 'zod'
import { createAnswers } from '../../../features/insight/analytics/answers.ts'
import {
  findDeliverability,
  MAX_PROVIDERS,
} from '../../../features/insight/analytics/deliverability.ts'
import { findLeaderboard, LEADERBOARDS } from '../../../features/insight/analytics/leaderboard.ts'
import { METRIC_NAMES } from '../../../features/insight/analytics/metrics.ts'
import { findOverview } from '../../../features/insight/analytics/overview.ts'
import {
  completeHeader,
  metrics,
  rangeFields,
  rangeParameters,
  wordParameter,
} from '../../../records/analytics.ts'
import { countParameter } from '../../../records/page.ts'
import { STREAMS } from '../../../records/words.ts'
import { RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { answerRange, readAsked } from './respond.ts'

const leaderboardQuery = z.object({
  ...rangeParameters,
  kind: wordParameter(LEADERBOARDS, 'campaigns by default'),
  sort: wordParameter(METRIC_NAMES, 'The metric to order by, highest first; sent by default'),
  limit: countParameter({ fallback: 10, cap: 100 }),
})

const overview = z
  .object({
    ...rangeFields,
    current: z.object(metrics),
    previous: z.object(metrics).meta({ description: 'Of the equal range before' }),
    streams: z.array(z.object({ stream: z.enum(STREAMS), ...metrics })),
  })
  .meta({ id: 'AnalyticsOverview' })

const bounces = { hardBounces: z.int(), softBounces: z.int() }

const deliverability = z
  .object({
    ...rangeFields,
    ...bounces,
    complaints: z.int(),
    providers: z.array(z.object({ provider: z.string(), ...metrics, ...bounces })),
  })
  .meta({ id: 'AnalyticsDeliverability' })

const leaderboard = z
  .object({
    ...rangeFields,
    kind: z.enum(LEADERBOARDS),
    rows: z.array(
      z.object({
        id: z.string(),
        name: z.string().nullable().meta({ description: 'Null when it was deleted' }),
        ...metrics,
      }),
    ),
  })
  .meta({ id: 'AnalyticsLeaderboard' })

const shared = { tag: 'Analytics' } as const
const good = { isTableToo: true, headers: completeHeader, description: 'The figures' } as const

export const showOverview = (deps: RouteDeps) => {
  const find = createAnswers(deps.core, findOverview)
  return projectOperation({
    ...shared,
    summary: 'Show the figures of all mail of a range, and of the equal range before',
    description: 'Emails count by the instant of their acceptance, so no rate is above 100.',
    query: z.object(rangeParameters),
    responses: { 200: { ...good, schema: overview } },
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
  const find = createAnswers(deps.core, findDeliverability)
  return projectOperation({
    ...shared,
    summary: 'Show bounces and complaints, and how mail fared with each receiving provider',
    description: `At most ${MAX_PROVIDERS} providers, those with most mail first.`,
    query: z.object(rangeParameters),
    responses: { 200: { ...good, schema: deliverability } },
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
  const find = createAnswers(deps.core, findLeaderboard)
  return projectOperation({
    ...shared,
    summary: 'List the campaigns, templates or workflows with most mail, or by another metric',
    answerBytes: RECORD_ANSWER_BYTES,
    query: leaderboardQuery,
    responses: { 200: { ...good, schema: leaderboard } },
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
