/** The security metrics of a project: bounces and complaints, and how near they are to its end. */
import { z } from 'zod'
import { viewSecurityForClients } from '../../features/insight/reputation/security.ts'
import { json } from '../response.ts'
import { memberOperation, projectOperation, type RouteDeps } from '../route.ts'

const count = z.int().min(0)
const rate = z.number().min(0).meta({ description: 'Percent of `total`' })
const level = z.enum(['healthy', 'warning', 'critical'])

const counts = z
  .object({
    total: count.meta({ description: 'Emails that were sent, or refused for good' }),
    bounces: count.meta({ description: 'Hard bounces' }),
    complaints: count,
    bounceRate: rate,
    complaintRate: rate,
  })
  .meta({ id: 'SecurityCounts' })

const metrics = z
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

const shared = {
  tag: 'Security',
  params: { id: 'The id of the project' },
  description:
    'A project whose hard bounces or complaints become critical is disabled automatically.',
} as const

export const showOfMember = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Show the security metrics of a project of yours',
    responses: { 200: { description: 'The metrics', schema: metrics } },
    handle: async ({ project }) => json(200, await viewSecurityForClients(core, project.id)),
  })

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the security metrics of a project',
    responses: {
      200: {
        description: 'The metrics',
        schema: z.object({ success: z.literal(true), data: metrics }),
      },
    },
    handle: async ({ project }) => {
      const data = await viewSecurityForClients(core, project.id)
      return json(200, { success: true, data })
    },
  })
