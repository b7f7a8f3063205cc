/** Responses of analytics: JSON with the facts of the range, or a table. */
import { formatInstant } from '../../../base/clock.ts'
import type { AnalyticsAnswer } from '../../../features/insight/analytics/answers.ts'
import {
  type Range,
  readRange,
  type StreamChoice,
} from '../../../features/insight/analytics/range/range.ts'
import { COMPLETE_HEADER } from '../../exchange/complete-header.ts'
import { jsonOrTable, type Table } from '../../exchange/table.ts'
import type { HttpResponse } from '../../response.ts'
import type { RouteDeps } from '../../route.ts'

type RangeParameters = {
  from?: string | undefined
  to?: string | undefined
  tz?: string | undefined
  stream?: StreamChoice | undefined
}
type DateParameters = { startDate?: string | undefined; endDate?: string | undefined }
type AskedFigures = { range: Range; stream: StreamChoice }

/** @throws AppError VALIDATION_ERROR */
export function readAsked({ core }: RouteDeps, query: RangeParameters): AskedFigures {
  return { range: readRange(query, core.now()), stream: query.stream ?? 'ALL' }
}

/** Does the same as `readAsked` for the parameters of older clients, whose days are days in UTC. */
export function readDates(
  { core }: RouteDeps,
  { startDate, endDate }: DateParameters,
): AskedFigures {
  const names = { from: 'startDate', to: 'endDate' }
  return { range: readRange({ from: startDate, to: endDate }, core.now(), names), stream: 'ALL' }
}

type Call = { incoming: { headers: { accept?: string | undefined } } }

/** Returns the response of a newer call: the facts of its range, and the figures. */
export function answerRange<Value extends object>(
  call: Call,
  { asked, answer }: { asked: AskedFigures; answer: AnalyticsAnswer<Value> },
  toTable: (value: Value) => Table,
): HttpResponse {
  const { value, isComplete } = answer
  const { fromAt, toAt, zone } = asked.range
  const bounds = { from: formatInstant(fromAt), to: formatInstant(toAt), tz: zone.name }
  const body = { ...bounds, stream: asked.stream, isComplete, ...value }
  return answerWith(call, { value: body, isComplete }, () => toTable(value))
}

/** Some bodies have no field for this fact, so a header tells when figures are too low. */
export function answerWith(
  { incoming }: Call,
  { isComplete, value }: AnalyticsAnswer<object>,
  toTable: () => Table,
): HttpResponse {
  const response = jsonOrTable(incoming.headers.accept, value, toTable)
  if (isComplete) return response
  return { ...response, headers: { ...response.headers, [COMPLETE_HEADER]: 'false' } }
}
