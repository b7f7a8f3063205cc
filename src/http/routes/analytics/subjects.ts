/** Figures of links and events. */
import { createAnalyticsAnswers } from '../../../features/insight/analytics/answers.ts'
import { findEvents, findLinks } from '../../../features/insight/analytics/subject-figures.ts'
import { analyticsEvents, analyticsLinks, listedFiguresQuery } from '../../../records/analytics.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { completeHeader } from '../../exchange/complete-header.ts'
import { RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import * as examples from './examples.ts'
import { answerRange, readAsked } from './respond.ts'

const good = { isTableToo: true, headers: completeHeader } as const

export const listLinks = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findLinks)
  return projectOperation({
    tag: 'Analytics',
    summary: 'List the links that were clicked in the mail of a range, most clicks first',
    answerBytes: RECORD_ANSWER_BYTES,
    query: listedFiguresQuery,
    responses: { 200: { ...good, description: 'The links', schema: analyticsLinks } },
    example: examples.listLinks,
    handle: async (call) => {
      const asked = readAsked(deps, call.query)
      const answer = await find(call.project, { ...asked, limit: call.query.limit })
      const columns = ['url', 'clicks', 'uniqueClickers']
      const toTable = ({ links: rows }: typeof answer.value) => ({ name: 'links', columns, rows })
      return answerRange(call, { asked, answer }, toTable)
    },
  })
}

export const listEvents = (deps: RouteDeps) => {
  const find = createAnalyticsAnswers(deps.core, findEvents)
  return projectOperation({
    tag: 'Analytics',
    summary: 'List the events of a range by how often they happened',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'Events count by their own instant. With `stream`, only events of such mail. Not listed: ' +
      `${UNLISTED_EVENTS.join(', ')}.`,
    query: listedFiguresQuery,
    responses: { 200: { ...good, description: 'The events', schema: analyticsEvents } },
    example: examples.listEvents,
    handle: async (call) => {
      const asked = readAsked(deps, call.query)
      const { value: rows, isComplete } = await find(call.project, {
        ...asked,
        limit: call.query.limit,
      })
      const answer = { value: { events: rows }, isComplete }
      const columns = ['name', 'count', 'previousCount']
      return answerRange(call, { asked, answer }, () => ({ name: 'events', columns, rows }))
    },
  })
}
