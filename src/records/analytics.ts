/** Analytics in the API: the figures, and the parameters that several calls share. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { DEFAULT_DAYS, MAX_DAYS } from './limits.ts'
import { type COUNT_NAMES, type RATE_NAMES, STREAMS } from './words.ts'

const STREAM_CHOICES = ['ALL', ...STREAMS] as const

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
        `${DEFAULT_DAYS} days; the longest has ${MAX_DAYS}.`,
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
      description: `${day}; by default a range has ${DEFAULT_DAYS} days, at most ${MAX_DAYS}`,
    }),
  endDate: z
    .string()
    .optional()
    .meta({ description: `${day}; the day is part of the range. Today by default` }),
}

const count = z.int()
const rate = z.number()

const counts = {
  sent: count.meta({ description: 'Handed over, or refused for good by the receiver' }),
  delivered: count.meta({ description: 'Without those that bounced later' }),
  opened: count.meta({ description: 'Opened at least once, not by a machine' }),
  clicked: count,
  bounced: count,
  complained: count,
  unsubscribed: count,
} satisfies Record<(typeof COUNT_NAMES)[number], z.ZodType>

const rates = {
  deliveryRate: rate.meta({ description: 'Rates are percent of sent with two decimals' }),
  openRate: rate,
  clickRate: rate,
  clickToOpenRate: rate.meta({ description: 'Those of the opened emails that were clicked too' }),
  bounceRate: rate,
  complaintRate: rate,
  unsubscribeRate: rate,
} satisfies Record<(typeof RATE_NAMES)[number], z.ZodType>

/** The figures of emails, the same in every call. */
export const metrics = { ...counts, ...rates }

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

export const COMPLETE_HEADER = 'x-analytics-complete'

export const completeHeader = {
  'X-Analytics-Complete':
    '`false` while older events are still being counted, and the figures are too low; else absent',
}
