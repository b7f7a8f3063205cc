import { sessionExample as session } from '../../records/session.ts'
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
    response: [session],
  },
  'DELETE /users/@me/sessions/:id': {
    params: {
      id: session.id,
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
