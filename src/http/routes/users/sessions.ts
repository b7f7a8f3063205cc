/** The sessions of the user who has logged in. */
import { z } from 'zod'
import {
  endOwnSession,
  listSessions,
} from '../../../features/tenancy/accounts/sessions/sessions.ts'
import { sessionExample, sessionRecord } from '../../../records/session.ts'
import { clearedSessionCookie } from '../../exchange/cookies.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { noContent } from '../../response.ts'
import { type RouteDeps, userOperation } from '../../route.ts'

const shared = { tag: 'Users' } as const

export const list = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    summary: 'List the sessions of the user, newest first',
    answerBytes: RECORD_ANSWER_BYTES,
    responses: { 200: { description: 'The sessions', schema: z.array(sessionRecord) } },
    example: () => ({ status: 200, response: [sessionExample] }),
    handle: async ({ user, session }) =>
      largeJson(200, await listSessions(core, { userId: user.id, currentId: session.id })),
  })

export const remove = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    summary: 'End a session',
    description: 'The session of the request itself is one of them.',
    params: { id: 'Id of the session' },
    responses: { 204: { description: 'Ended' } },
    refusals: [404],
    example: () => ({ params: { id: sessionExample.id }, status: 204 }),
    handle: async ({ user, session, params }) => {
      const id = (params.id ?? '').toLowerCase()
      await endOwnSession(core, { userId: user.id, id })
      const cookies = id === session.id ? [clearedSessionCookie(core.config)] : []
      return { ...noContent(), cookies }
    },
  })
