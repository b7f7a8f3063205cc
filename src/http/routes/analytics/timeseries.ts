/** Figures of mail by time: by days and hours of a time zone, or by UTC days for older clients. */
import { z } from 'zod'
import { createAnalyticsAnswers } from '../../../features/insight/analytics/answers.ts'
import {
  findDaily,
  findTimeseries,
  MAX_HOURLY_DAYS,
} from '../../../features/insight/analytics/mail-figures.ts'
import { analyticsTimeseries } from '../../../records/analytics.ts'
import { analyticsDays } from '../../../records/analytics-days.ts'
import { dateParameters, rangeParameters, wordParameter } from '../../../records/analytics-range.ts'
import { GRANULARITIES, METRIC_NAMES } from '../../../records/words.ts'
import { completeHeader } from '../../exchange/complete-header.ts'
import { RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import * as examples from './examples.ts'
import { answerRange, answerWith, readAsked, readDates } from './respond.ts'

const granularity = wordParameter(
  GRANULARITIES,
  `By default hours for ranges of up to two days, else days; hours for up to ${MAX_HOURLY_DAYS} days`,
)

const query = z
  .object({ ...dateParameters, ...rangeParameters, granularity })
  .superRefine(({ startDate, endDate, ...newer }, context) => {
    if (!isNewer(newer)) return
    for (const [name, value] of Object.entries({ startDate, endDate })) {
      if (value === undefined) continue
      const message = 'Not together with from, to, tz, stream or granularity'
      context.addIssue({ code: 'custom', path: [name], message })
    }
  })

export const showTimeseries = (deps: RouteDeps) => {
  const findPoints = createAnalyticsAnswers(deps.core, findTimeseries)
  const findDays = createAnalyticsAnswers(deps.core, findDaily)
  return projectOperation({
    tag: 'Analytics',
    summary: 'Show the figures of mail by days or hours',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'With `from`, `to`, `tz`, `stream` or `granularity`, points of the time zone, beside those of the ' +
      'equal range before. Without any of them, as older clients know it: a list of UTC days.',
    query,
    responses: {
      200: {
        description: 'Every day or hour of the range, also those without mail',
        schema: z.union([analyticsTimeseries, analyticsDays]),
        isTableToo: true,
        headers: completeHeader,
      },
    },
    example: examples.showTimeseries,
    handle: async (call) => {
      const { startDate, endDate, ...newer } = call.query
      if (!isNewer(newer)) {
        const answer = await findDays(call.project, readDates(deps, { startDate, endDate }))
        const columns = ['date', 'emails', 'opens', 'clicks', 'bounces', 'delivered']
        return answerWith(call, answer, () => ({ name: 'days', columns, rows: answer.value }))
      }
      const asked = readAsked(deps, newer)
      const wanted = { ...asked, granularity: newer.granularity }
      const answer = await findPoints(call.project, wanted)
      return answerRange(call, { asked, answer }, (value) => ({
        name: value.granularity === 'day' ? 'days' : 'hours',
        columns: ['period', value.granularity === 'day' ? 'date' : 'at', ...METRIC_NAMES],
        rows: [
          ...value.current.map((row) => ({ period: 'current', ...row })),
          ...value.previous.map((row) => ({ period: 'previous', ...row })),
        ],
      }))
    },
  })
}

function isNewer(parameters: Readonly<Record<string, unknown>>): boolean {
  return Object.values(parameters).some((value) => value !== undefined)
}
