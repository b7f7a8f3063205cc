/** The monthly limits of a project. */
import { setLimits, showLimits } from '../../../features/tenancy/billing/limits.ts'
import { billingLimits, billingLimitsExample, newBillingLimits } from '../../../records/billing.ts'
import { json } from '../../response.ts'
import { memberOperation, type RouteDeps } from '../../route.ts'

const shared = {
  tag: 'Billing',
  tagText: 'What a project may send and receive in a month, and what it pays for it.',
  params: { id: 'The id of the project' },
} as const

export const show = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Show the limits of a project and their use',
    description:
      'As of now. On a server with Stripe, all projects of an owner without a subscription have one ' +
      'limit together, for all categories; each category shows it and what is used of it.',
    responses: {
      200: { description: 'The limits and their use in this month', schema: billingLimits },
    },
    refusals: [404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      status: 200,
      response: billingLimitsExample,
    }),
    handle: async ({ project }) => json(200, await showLimits(core, project.id)),
  })

export const set = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Set the limits of a project',
    description:
      'All four. They hold at once, also below the use. On a server with Stripe, the project needs a ' +
      'subscription.',
    body: newBillingLimits,
    responses: {
      200: { description: 'The limits and their use in this month', schema: billingLimits },
    },
    refusals: [400, 404],
    example: () => ({
      params: { id: '0199a7c0-0000-7000-8000-000000000001' },
      request: { workflows: null, campaigns: 10_000, transactional: 2_000, inbound: null },
      status: 200,
      response: billingLimitsExample,
    }),
    handle: async ({ user, project, body }) =>
      json(200, await setLimits(core, { projectId: project.id, userId: user.id }, body)),
  })
