/** Examples of logging in and of the operations on users. */
import { sessionExample as session } from '../../records/session.ts'
import { userExample as user } from '../../records/user.ts'
import type { Examples } from './operation-example.ts'

const token = '5f0c7b7e9d4b5a6f8e1d2c3b4a59687f5f0c7b7e9d4b5a6f8e1d2c3b4a59687f'

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
  'POST /auth/signup': {
    request: { email: 'grace@example.com', password: 'correct horse battery' },
    status: 200,
    response: {
      success: true,
      data: { id: '0199a7c0-0000-7000-8000-000000000b01', email: 'grace@example.com' },
    },
  },
  'POST /auth/request-verification': {
    status: 200,
    response: { success: true, data: { message: 'A mail with a link is on its way.' } },
  },
  'POST /auth/verify-email': {
    request: { token },
    status: 200,
    response: { success: true, data: { message: 'Your email address is verified.' } },
  },
  'POST /auth/request-password-reset': {
    request: { email: 'grace@example.com' },
    status: 200,
    response: {
      success: true,
      data: { message: 'If the address has an account with a password, a mail is on its way.' },
    },
  },
  'POST /auth/reset-password': {
    request: { token, newPassword: 'another horse battery' },
    status: 200,
    response: {
      success: true,
      data: { message: 'Your password is changed. Log in with the new one.' },
    },
  },
  'GET /auth/oauth-config': {
    status: 200,
    response: { success: true, data: { github: false, google: false, oidc: null } },
  },
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
