import { userExample as user } from '../../records/user.ts'
import type { Examples } from './operation-example.ts'

export const userExamples: Examples = {
  'GET /users/@me': {
    status: 200,
    response: user,
  },
  'PATCH /users/@me': {
    request: {
      language: 'de',
      timezone: 'Europe/Berlin',
    },
    status: 200,
    response: { ...user, language: 'de', timezone: 'Europe/Berlin' },
  },
  'GET /users/@me/sessions': {
    status: 200,
    response: [
      {
        id: '0199a7c0-0000-4000-8000-000000000c02',
        current: true,
        createdAt: '2026-11-22T09:30:00.000Z',
        lastUsedAt: '2026-11-22T09:30:00.000Z',
        expiresAt: '2026-11-29T09:30:00.000Z',
        ip: '…',
        userAgent: '…',
      },
    ],
  },
  'DELETE /users/@me/sessions/:id': {
    params: {
      id: '0199a7c0-0000-4000-8000-000000000c02',
    },
    status: 204,
  },
  'POST /users/@me/totp': {
    request: {
      password: 'correct horse battery staple',
    },
    status: 200,
    response: {
      secret: '…',
      uri: 'otpauth://totp/Pillarbox…',
    },
  },
  'POST /users/@me/totp/confirm': {
    request: {
      code: '287082',
    },
    status: 200,
    response: {
      recoveryCodes: ['…', '…', '…', '…', '…', '…', '…', '…', '…', '…'],
    },
  },
  'DELETE /users/@me/totp': {
    request: {
      password: 'correct horse battery staple',
      code: '081804',
    },
    status: 204,
  },
}
