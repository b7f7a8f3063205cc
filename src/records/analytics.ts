/** The figures of analytics: of all mail, by time, by provider, by sender, and of links and events. */
import { z } from 'zod'
import { type FiguresOf, rangeFields, rangeParameters, wordParameter } from './analytics-range.ts'
import { countParameter } from './page.ts'
import {
  ANALYTICS_STREAMS,
  type COUNT_NAMES,
  GRANULARITIES,
  LEADERBOARDS,
  METRIC_NAMES,
  type RATE_NAMES,
} from './words.ts'

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

const metrics = { ...counts, ...rates }

/**
 * Rates are percentages of `sent`, but `clickToOpenRate` is a percentage of `opened`. They have two
 * decimals, and are 0 if that count is 0.
 */
export type Metrics = Record<(typeof METRIC_NAMES)[number], number>

export const leaderboardQuery = z.object({
  ...rangeParameters,
  kind: wordParameter(LEADERBOARDS, 'campaigns by default'),
  sort: wordParameter(METRIC_NAMES, 'The metric to order by, highest first; sent by default'),
  limit: countParameter({ fallback: 10, cap: 100 }),
})

export const analyticsOverview = z
  .object({
    ...rangeFields,
    current: z.object(metrics),
    previous: z.object(metrics).meta({ description: 'Of the equal range before' }),
    streams: z.array(z.object({ stream: z.enum(ANALYTICS_STREAMS), ...metrics })),
  })
  .meta({ id: 'AnalyticsOverview' })

const bounces = { hardBounces: z.int(), softBounces: z.int() }

export const analyticsDeliverability = z
  .object({
    ...rangeFields,
    ...bounces,
    complaints: z.int(),
    providers: z.array(z.object({ provider: z.string(), ...metrics, ...bounces })),
  })
  .meta({ id: 'AnalyticsDeliverability' })

export const analyticsLeaderboard = z
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

const point = z.object({
  date: z.iso.date().optional().meta({ description: 'A day in the time zone' }),
  at: z.iso
    .datetime({ offset: true })
    .optional()
    .meta({ description: 'The start of an hour in the time zone, with its offset' }),
  ...metrics,
})

export const analyticsTimeseries = z
  .object({
    ...rangeFields,
    granularity: z.enum(GRANULARITIES),
    current: z.array(point),
    previous: z.array(point).meta({ description: 'Of the equal range before' }),
  })
  .meta({ id: 'AnalyticsTimeseries' })

export const listedFiguresQuery = z.object({
  ...rangeParameters,
  limit: countParameter({ fallback: 100, cap: 1_000 }),
})

export const analyticsLinks = z
  .object({
    ...rangeFields,
    totalClicks: z.int(),
    links: z.array(
      z.object({
        url: z.string().nullable().meta({ description: 'Null: all further links together' }),
        clicks: z.int(),
        uniqueClickers: z.int().meta({ description: 'Emails whose first click was on this link' }),
      }),
    ),
  })
  .meta({ id: 'AnalyticsLinks' })

export const analyticsEvents = z
  .object({
    ...rangeFields,
    events: z.array(
      z.object({
        name: z.string().nullable().meta({ description: 'Null: all further names together' }),
        count: z.int(),
        previousCount: z.int().meta({ description: 'In the equal range before' }),
      }),
    ),
  })
  .meta({ id: 'AnalyticsEvents' })

export type OverviewFigures = FiguresOf<z.output<typeof analyticsOverview>>
export type DeliverabilityFigures = FiguresOf<z.output<typeof analyticsDeliverability>>
export type LeaderboardFigures = FiguresOf<z.output<typeof analyticsLeaderboard>>
export type TimeseriesFigures = FiguresOf<z.output<typeof analyticsTimeseries>>
export type LinkFigures = FiguresOf<z.output<typeof analyticsLinks>>
export type EventFigures = z.output<typeof analyticsEvents>['events'][number]
