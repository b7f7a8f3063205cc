/** `GET /config`: what clients may know about this server, before and after they have logged in. */
import { isSetupOpen } from '../../features/tenancy/accounts/setup/is-open.ts'
import { describeInstance } from '../../features/tenancy/public-config.ts'
import { publicConfig, publicConfigExample } from '../../records/server.ts'
import { createHostCheck } from '../exchange/own-host.ts'
import { findSessionUser } from '../exchange/session.ts'
import { json } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

export const showConfig = ({ core }: RouteDeps) => {
  // The route answers for any host. Under the host of others no cookie counts, as everywhere.
  const findOtherHost = createHostCheck(core.config)
  return openOperation({
    tag: 'Service',
    summary: 'Show the features of this server',
    description:
      'While no user may log in (`setup.needed`), it shows no `environment` without a session.',
    responses: { 200: { description: 'Its addresses and features', schema: publicConfig } },
    refusals: [400],
    example: () => ({ status: 200, response: publicConfigExample }),
    handle: async ({ incoming }) => {
      const isOwnHost = findOtherHost(incoming) === undefined
      const user = isOwnHost ? await findSessionUser(core, incoming) : undefined
      const shown = {
        isSetupOpen: await isSetupOpen(core, core.store.read),
        hasSession: user !== undefined,
      }
      return json(200, describeInstance(core.config, shown))
    },
  })
}
