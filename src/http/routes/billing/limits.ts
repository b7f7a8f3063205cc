/** The limits of a project by the month. */
import { z } from 'zod'
import { MAX_LIMIT, setLimits, showLimits } from '../../../features/tenancy/billing/limits.ts'
import { json } from '../../response.ts'
import { memberOperation, type RouteDeps } from '../../route.ts'

const limit = z
  .int()
  .min(1)
  .max(MAX_LIMIT)
  .nullable()
  .meta({ description: 'Emails in a calendar month (UTC); null: no limit' })

const limits = z.object({
  workflows: limit,
  campaigns: limit,
  transactional: limit,
  inbound: limit.meta({
    description: 'Received emails in a calendar month (UTC); they are counted and never refused',
  }),
})

const use = z
  .object({
    limit: z.int().nullable().meta({ description: 'Emails in this month; null: no limit' }),
    usage: z.int().min(0).meta({ description: 'Emails in this month that did not fail' }),
    percentage: z
      .number()
      .min(0)
      .meta({ description: 'Of the limit, rounded down to a tenth; 0 without one' }),
    isWarning: z.boolean().meta({ description: 'Whether 80% is reached' }),
    isBlocked: z.boolean().meta({ description: 'Whether the limit is reached' }),
  })
  .meta({ id: 'LimitUse' })

const view = z
  .object({
    workflows: use,
    campaigns: use,
    transactional: use,
    inbound: use,
    currency: z.string().nullable().meta({ description: 'Of the subscription, such as `usd`' }),
  })
  .meta({ id: 'BillingLimits' })

const shared = { tag: 'Billing', params: { id: 'The id of the project' } } as const

export const show = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Show the limits of a project and their use',
    description:
      'As of now. On a server with Stripe, all projects of an owner without a subscription have one ' +
      'limit together, for all categories; each category shows it and what is used of it.',
    responses: { 200: { description: 'The limits and their use in this month', schema: view } },
    refusals: [404],
    handle: async ({ project }) => json(200, await showLimits(core, project.id)),
  })

export const set = ({ core }: RouteDeps) =>
  memberOperation({
    ...shared,
    summary: 'Set the limits of a project',
    description:
      'All four. They hold at once, also below the use. On a server with Stripe, the project needs a ' +
      'subscription.',
    body: limits,
    responses: { 200: { description: 'The limits and their use in this month', schema: view } },
    refusals: [400, 404],
    handle: async ({ user, project, body }) =>
      json(200, await setLimits(core, { projectId: project.id, userId: user.id }, body)),
  })
