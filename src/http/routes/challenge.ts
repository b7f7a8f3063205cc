/**
 * The answers to the challenges of ACME, where a proxy passes them on. The answer depends on the token
 * alone, never on the Host header.
 */
import { notFound } from '../../base/errors.ts'
import { openOperation, type RouteDeps } from '../route.ts'

export const answer = ({ core: { acmeChallenges } }: RouteDeps) =>
  openOperation({
    isHidden: true,
    isUnlogged: true,
    tag: 'Service',
    summary: 'Answer a challenge of ACME',
    responses: { 200: { description: 'The key authorization' } },
    handle: ({ params: { token = '' } }) => {
      const found = acmeChallenges.find(token)
      if (found === undefined) throw notFound('challenge', token, 'There is no such challenge.')
      const headers = { 'content-type': 'application/octet-stream' }
      return { status: 200, body: found, headers }
    },
  })
