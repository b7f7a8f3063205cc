import type { Examples } from './operation-example.ts'

export const oauthExamples: Examples = {
  'GET /auth/oauth-config': {
    status: 200,
    response: { success: true, data: { github: false, google: false, oidc: null } },
  },
}
