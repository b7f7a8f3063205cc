/** The security metrics of a project in the API: bounces and complaints, and what they mean. */
import { z } from 'zod'

const count = z.int().min(0)
const rate = z.number().min(0).meta({ description: 'Percent of `total`' })
const level = z.enum(['healthy', 'warning', 'critical'])

const securityCounts = z
  .object({
    total: count.meta({ description: 'Emails that were sent, or refused for good' }),
    bounces: count.meta({ description: 'Hard bounces' }),
    complaints: count,
    bounceRate: rate,
    complaintRate: rate,
  })
  .meta({ id: 'SecurityCounts' })

export const securityMetrics = z
  .object({
    status: z.object({
      projectId: z.string(),
      isHealthy: z.boolean().meta({ description: 'Whether nothing is critical' }),
      shouldDisable: z.boolean(),
      twentyFourHour: securityCounts.meta({ description: 'Always zeros' }),
      sevenDay: securityCounts,
      allTime: securityCounts.meta({ description: 'Since the project was last enabled' }),
      isNewProject: z.boolean().meta({ description: 'Always false' }),
      violations: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
    levels: z
      .object({
        bounce7Day: level,
        bounceAllTime: level,
        complaint7Day: level,
        complaintAllTime: level,
      })
      .meta({ description: 'By the rates alone' }),
    isDisabled: z.boolean(),
  })
  .meta({ id: 'SecurityMetrics' })

export type SecurityRecord = z.output<typeof securityMetrics>
/** Rates in percent. */
export type SecurityCounts = z.output<typeof securityCounts>
