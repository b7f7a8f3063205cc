import type { Examples } from './operation-example.ts'

const none = { total: 0, bounces: 0, complaints: 0, bounceRate: 0, complaintRate: 0 }

const metrics = {
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
  },
  levels: {
    bounce7Day: 'warning',
    bounceAllTime: 'healthy',
    complaint7Day: 'warning',
    complaintAllTime: 'healthy',
  },
  isDisabled: false,
}

export const securityExamples: Examples = {
  'GET /users/@me/projects/:id/security': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: metrics,
  },
  'GET /projects/:id/security': {
    params: { id: '0199a7c0-0000-7000-8000-000000000001' },
    status: 200,
    response: { success: true, data: metrics },
  },
}
