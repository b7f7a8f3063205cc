import type { Examples } from './operation-example.ts'

export const authExamples: Examples = {
  'POST /auth/login': {
    request: {
      email: 'ada@example.com',
      password: 'correct horse battery staple',
    },
    status: 200,
    response: {
      success: true,
      data: {
        id: '0199a7c0-0000-7000-8000-000000000c01',
        email: 'ada@example.com',
      },
    },
  },
  'GET /auth/logout': {
    status: 200,
    response: true,
  },
  'POST /auth/logout': {
    status: 200,
    response: true,
  },
}
