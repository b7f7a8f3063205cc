import type { Examples } from './operation-example.ts'

const limits = {
  workflows: { limit: null, usage: 120, percentage: 0, isWarning: false, isBlocked: false },
  campaigns: { limit: 10_000, usage: 8_500, percentage: 85, isWarning: true, isBlocked: false },
  transactional: { limit: 2_000, usage: 640, percentage: 32, isWarning: false, isBlocked: false },
  inbound: { limit: null, usage: 17, percentage: 0, isWarning: false, isBlocked: false },
  currency: null,
}

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
