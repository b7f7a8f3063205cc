/**
 * The security metrics of a project: bounces and complaints, and how near they are to the limits at
 * which the project is disabled.
 */
import { viewSecurityForClients } from '../../features/insight/reputation/security.ts'
import { enveloped } from '../../records/envelope.ts'
import { securityExample, securityMetrics } from '../../records/security.ts'
import { json } from '../response.ts'
import { memberOperation, projectOperation, type RouteDeps } from '../route.ts'

const shared = {
  tag: 'Security',
  tagText: 'The reputation of a project: bounces and complaints.',
  params: { id: 'The id of the project' },
  description:
    'A project whose hard bounces or complaints become critical is disabled automatically.',
} as const

export const showOfMember = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Show the security metrics of a project of yours',
    responses: { 200: { description: 'The metrics', schema: securityMetrics } },
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: securityExample,
    }),
    handle: async ({ project }) => json(200, await viewSecurityForClients(core, project.id)),
  })

export const show = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Show the security metrics of a project',
    responses: {
      200: {
        description: 'The metrics',
        schema: enveloped(securityMetrics),
      },
    },
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: { success: true, data: securityExample },
    }),
    handle: async ({ project }) => {
      const data = await viewSecurityForClients(core, project.id)
      return json(200, { success: true, data })
    },
  })
