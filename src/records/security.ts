/** The security metrics of a project in the API: bounces and complaints in three windows. */
import { z } from 'zod'

const count = z.int().min(0)
const rate = z.number().min(0).meta({ description: 'Percent of `total`' })
const level = z.enum(['healthy', 'warning', 'critical'])

const finding = z
  .object({ kind: z.enum(['bounce', 'complaint']), level: z.enum(['warning', 'critical']) })
  .meta({ id: 'SecurityFinding' })

const counts = z
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
      twentyFourHour: counts.meta({ description: 'Always zeros' }),
      sevenDay: counts,
      allTime: counts.meta({ description: 'Since the project was last enabled' }),
      isNewProject: z.boolean().meta({ description: 'Always false' }),
      violations: z.array(z.string()),
      warnings: z.array(z.string()),
      findings: z.array(finding).meta({
        description: 'What `violations` (critical) and `warnings` say, in codes; each once',
      }),
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

export type SecurityFinding = z.output<typeof finding>
export type SecurityCounts = z.output<typeof counts>
export type SecurityMetrics = z.output<typeof securityMetrics>

const none: SecurityCounts = {
  total: 0,
  bounces: 0,
  complaints: 0,
  bounceRate: 0,
  complaintRate: 0,
}

export const securityExample: SecurityMetrics = {
  status: {
    projectId: '0199a7c0-0000-7000-8000-000000000001',
    isHealthy: true,
    shouldDisable: false,
    twentyFourHour: none,
    sevenDay: { total: 1250, bounces: 75, complaints: 1, bounceRate: 6, complaintRate: 0.08 },
    allTime: { total: 20_000, bounces: 240, complaints: 2, bounceRate: 1.2, complaintRate: 0.01 },
    isNewProject: false,
    violations: [],
    warnings: ['Many emails bounce.'],
    findings: [{ kind: 'bounce', level: 'warning' }],
  },
  levels: {
    bounce7Day: 'warning',
    bounceAllTime: 'healthy',
    complaint7Day: 'warning',
    complaintAllTime: 'healthy',
  },
  isDisabled: false,
}
