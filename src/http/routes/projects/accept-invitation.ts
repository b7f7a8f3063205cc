/** `POST /auth/accept-invitation`. */
import { acceptInvitation } from '../../../features/tenancy/accounts/invitations/accept.ts'
import { enveloped } from '../../../records/envelope.ts'
import { acceptedInvitation, invitationAcceptance, memberExample } from '../../../records/member.ts'
import { loginCookies } from '../../exchange/cookies.ts'
import { clientOf, findSessionUser } from '../../exchange/session.ts'
import { readerLanguage } from '../../pages/reader-language.ts'
import { json } from '../../response.ts'
import { openOperation, type RouteDeps } from '../../route.ts'
import { addressNetwork } from '../../server/client-address.ts'
import { whileClientWaits } from '../../server/client-gone.ts'

export const accept = ({ core }: RouteDeps) =>
  openOperation({
    tag: 'Authentication',
    summary: 'Accept an invitation',
    description:
      'Logged in, it must be with the invited address. Without a session, an address that has no ' +
      'account gets one with this password, and the response begins its session, even if the server ' +
      'takes no sign-ups; one that has an account must log in first (401). Before the server is set up ' +
      '(`setup.needed` of `GET /config`) no account is made (409).',
    growsDisk: true,
    body: invitationAcceptance,
    responses: {
      200: {
        description: 'You are a member',
        schema: enveloped(acceptedInvitation),
      },
    },
    refusals: [401, 403, 409, 503],
    example: () => ({
      request: {
        token: '7f0d5f0c1f4bb6a1c5e0e6b0d3a2c49f7f0d5f0c1f4bb6a1c5e0e6b0d3a2c49f',
        password: 'correct horse battery staple',
      },
      status: 200,
      response: {
        success: true,
        data: {
          id: memberExample.userId,
          email: 'ann@example.com',
          projectId: '0199a7c0-0000-7000-8000-000000000001',
          role: 'MEMBER',
        },
      },
    }),
    handle: async ({ incoming, address, body }) => {
      const user = await findSessionUser(core, incoming)
      const language = readerLanguage(incoming.headers['accept-language'])
      const client = clientOf(incoming, address)
      const { token, password } = body
      const wideNetwork = addressNetwork(address)
      const made = await whileClientWaits(incoming, (signal) =>
        acceptInvitation(core, { token, user, password, language, client, wideNetwork, signal }),
      )
      const { userId: id, address: email, projectId, role } = made
      const cookies = made.cookies ? loginCookies(core.config, made.cookies, core.now()) : []
      return { ...json(200, { success: true, data: { id, email, projectId, role } }), cookies }
    },
  })
