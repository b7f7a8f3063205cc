/**
 * Responses of the analytics calls of older clients: figures by UTC day, without the fields that
 * describe the range.
 */
import { z } from 'zod'
import { instant } from './fields.ts'

export const analyticsDays = z
  .array(
    z.object({
      date: instant.meta({ description: 'The first instant of a UTC day' }),
      emails: z.int(),
      opens: z.int(),
      clicks: z.int(),
      bounces: z.int(),
      delivered: z.int(),
    }),
  )
  .meta({ id: 'AnalyticsDays' })

export const topCampaigns = z
  .array(
    z.object({
      id: z.string(),
      subject: z.string(),
      sentCount: z.int(),
      openedCount: z.int(),
      clickedCount: z.int(),
      openRate: z.number().meta({ description: 'Percent of sentCount, with two decimals' }),
      clickRate: z.number(),
    }),
  )
  .meta({ id: 'TopCampaigns' })

export const analyticsCampaignStats = z
  .object({
    total: z.int().meta({ description: 'Made in the range' }),
    active: z.int().meta({ description: 'Of those, drafts and scheduled ones' }),
    completed: z.int().meta({ description: 'Sent in the range' }),
    averageOpenRate: z
      .number()
      .meta({ description: 'Percent of the mail of the completed ones, with one decimal' }),
    averageClickRate: z.number(),
  })
  .meta({ id: 'AnalyticsCampaignStats' })

export const topEvents = z
  .array(
    z.object({
      name: z.string(),
      count: z.int(),
      trend: z
        .int()
        .meta({ description: 'Percent against the equal range before; 100 for a new event' }),
    }),
  )
  .meta({ id: 'TopEvents' })

export type DayFigures = z.output<typeof analyticsDays>[number]
export type TopCampaign = z.output<typeof topCampaigns>[number]
export type CampaignFigures = z.output<typeof analyticsCampaignStats>
export type TopEvent = z.output<typeof topEvents>[number]
