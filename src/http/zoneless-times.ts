/**
 * Warns of times in a request that name no time zone. They are read as UTC, which an author in another zone
 * may not expect, so the answer names the instant that was understood. A day in a query is a whole day, and
 * needs no zone.
 */
import type { z } from 'zod'
import { formatInstant, parseZoneless } from '../base/clock.ts'
import type { FieldWarning } from '../base/errors.ts'
import { unwrapped } from './name-tree.ts'

const QUERY_TIMES = ['from', 'to', 'startDate', 'endDate']
const BODY_TIMES = ['scheduledFor', 'scheduledAt', 'since', 'until']

type TimeCheck = (request: {
  query: Readonly<Record<string, string>>
  body: unknown
}) => FieldWarning[]

/** Undefined for an operation without times. */
export function createTimeCheck({
  query,
  body,
}: {
  query?: z.ZodType | undefined
  body?: z.ZodType | undefined
}): TimeCheck | undefined {
  const inQuery = namesIn(query, QUERY_TIMES)
  const inBody = namesIn(body, BODY_TIMES)
  if (inQuery.length + inBody.length === 0) return undefined
  return (request) => {
    const fields = (request.body ?? {}) as Readonly<Record<string, unknown>>
    return [
      ...inQuery.flatMap((name) => warn(name, request.query[name], { isDayWhole: true })),
      ...inBody.flatMap((name) => warn(name, fields[name], { isDayWhole: false })),
    ]
  }
}

function namesIn(schema: z.ZodType | undefined, names: readonly string[]): string[] {
  if (schema === undefined) return []
  const { def } = unwrapped(schema)._zod
  return def.type === 'object' ? names.filter((name) => Object.hasOwn(def.shape, name)) : []
}

function warn(
  field: string,
  value: unknown,
  { isDayWhole }: { isDayWhole: boolean },
): FieldWarning[] {
  const time = typeof value === 'string' ? parseZoneless(value.trim()) : undefined
  if (time === undefined || (time.isDay && isDayWhole)) return []
  const message = `There is no time zone in it, so it was read as UTC: ${formatInstant(time.at)}`
  const suggestion = 'Write Z at the end for UTC, or an offset such as +01:00'
  return [{ field, message, suggestion }]
}
