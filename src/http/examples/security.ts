import { securityExample as metrics } from '../../records/security.ts'
import type { Examples } from './operation-example.ts'

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
