import { billingLimitsExample as limits } from '../../records/billing.ts'
import type { Examples } from './operation-example.ts'

export const billingLimitExamples: Examples = {
  'GET /users/@me/projects/:id/billing-limits': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: limits,
  },
  'PUT /users/@me/projects/:id/billing-limits': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    request: { workflows: null, campaigns: 10_000, transactional: 2_000, inbound: null },
    status: 200,
    response: limits,
  },
}
