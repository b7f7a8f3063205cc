/** `GET /config`: what clients may know about this server, before and after they have logged in. */
import { productVersion } from '../../config/version.ts'
import { isSetupOpen } from '../../features/tenancy/accounts/setup/is-open.ts'
import { describeInstance } from '../../features/tenancy/public-config.ts'
import { publicConfig, publicConfigExample } from '../../records/server.ts'
import { VERSION_HEADER } from '../exchange/exchange.ts'
import { createHostCheck } from '../exchange/own-host.ts'
import { findSessionUser } from '../exchange/session.ts'
import { json } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

export const showConfig = ({ core }: RouteDeps) => {
  // The route answers for any host. Under the host of others no cookie counts, as everywhere.
  const findOtherHost = createHostCheck(core.config)
  const version = productVersion()
  return openOperation({
    tag: 'Service',
    summary: 'Show the features of this server',
    description:
      'Anyone may call it. With the cookie of a session the response also has `version`, `hostname` and `limits`. ' +
      'While no user may log in (`setup.needed`), it leaves out `environment`.',
    responses: { 200: { description: 'Its addresses and features', schema: publicConfig } },
    refusals: [400],
    example: () => ({ status: 200, response: publicConfigExample }),
    handle: async ({ incoming }) => {
      const isOwnHost = findOtherHost(incoming) === undefined
      const user = isOwnHost ? await findSessionUser(core, incoming) : undefined
      const shown = {
        isSetupOpen: await isSetupOpen(core, core.store.read),
        version: user === undefined ? null : version,
      }
      const response = json(200, describeInstance(core.config, shown))
      if (user === undefined) return response
      return { ...response, headers: { ...response.headers, [VERSION_HEADER]: version } }
    },
  })
}
