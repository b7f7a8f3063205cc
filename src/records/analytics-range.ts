/**
 * The range of an analytics call: its query parameters, and the response fields that describe it.
 */
import { z } from 'zod'
import { instant } from './fields.ts'
import { DEFAULT_RANGE_DAYS, MAX_RANGE_DAYS } from './limits.ts'
import { ANALYTICS_STREAMS } from './words.ts'

const STREAM_CHOICES = ['ALL', ...ANALYTICS_STREAMS] as const

/**
 * A query parameter that must be one of `choices`; the error for any other value has the code
 * `invalid_enum`.
 */
export function wordParameter<const Choice extends string>(
  choices: readonly Choice[],
  description: string,
) {
  return z
    .string()
    .transform((text, context): Choice => {
      const choice = choices.find((one) => one === text)
      if (choice !== undefined) return choice
      const message = `Expected one of ${choices.join(', ')}`
      context.addIssue({ code: 'custom', message, params: { code: 'invalid_enum' } })
      return z.NEVER
    })
    .optional()
    .meta({ type: 'string', enum: [...choices], description })
}

const streamParameter = wordParameter(STREAM_CHOICES, 'Only mail of this kind; ALL by default')

export const rangeParameters = {
  from: z
    .string()
    .optional()
    .meta({
      description:
        'The first day (YYYY-MM-DD) in the time zone, or an instant in ISO 8601 or RFC 1123. By default a range has ' +
        `${DEFAULT_RANGE_DAYS} days; the longest has ${MAX_RANGE_DAYS}.`,
    }),
  to: z
    .string()
    .optional()
    .meta({
      description:
        'The last day, which is part of the range, or the instant at which it ends; today by ' +
        'default. Instants widen the range to whole quarters of an hour.',
    }),
  tz: z.string().optional().meta({
    description: 'A time zone of the IANA database, such as Asia/Kathmandu; UTC by default',
  }),
  stream: streamParameter,
}

const day = 'A date, or an instant in ISO 8601 or RFC 1123'

/** The query parameters of the analytics calls of older clients. A date means the UTC day. */
export const dateParameters = {
  startDate: z
    .string()
    .optional()
    .meta({
      description: `${day}; by default a range has ${DEFAULT_RANGE_DAYS} days, at most ${MAX_RANGE_DAYS}`,
    }),
  endDate: z
    .string()
    .optional()
    .meta({ description: `${day}; the day is part of the range. Today by default` }),
}

/** The response fields that describe the range; every response has them. */
export const rangeFields = {
  from: instant.meta({ description: 'The first instant of the range' }),
  to: instant.meta({ description: 'The first instant after the range' }),
  tz: z.string(),
  stream: z.enum(STREAM_CHOICES),
  isComplete: z.boolean().meta({
    description: 'False while older events are still being counted; the figures are too low then',
  }),
}

/** The figures of an answer: its fields without those that describe the range. */
export type FiguresOf<Answer> = Omit<Answer, keyof typeof rangeFields>
