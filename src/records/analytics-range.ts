/** The range of time of a call of analytics: its parameters, and what every answer tells about it. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { DEFAULT_RANGE_DAYS, MAX_RANGE_DAYS } from './limits.ts'
import { ANALYTICS_STREAMS } from './words.ts'

const STREAM_CHOICES = ['ALL', ...ANALYTICS_STREAMS] as const

/** One of `choices`, with the code that analytics has for any other value. */
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

/** The parameters of the calls that older clients know. A date is a UTC day. */
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

/** What every response tells about its range. */
export const rangeFields = {
  from: instant.meta({ description: 'The first instant of the range' }),
  to: instant.meta({ description: 'The first instant after the range' }),
  tz: z.string(),
  stream: z.enum(STREAM_CHOICES),
  isComplete: z.boolean().meta({
    description: 'False while older events are still being counted; the figures are too low then',
  }),
}

/** An answer without what it tells about its range. */
export type FiguresOf<Answer> = Omit<Answer, keyof typeof rangeFields>
