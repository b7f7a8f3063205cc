import type { Examples } from './operation-example.ts'

export const serviceExamples: Examples = {
  'GET /health': {
    status: 200,
    response: {
      status: 'ok',
      time: '2026-11-22T09:30:00.000Z',
    },
  },
}
