/** `GET /config`: what clients may know about this server before anyone has logged in. */
import { describeInstance } from '../../features/tenancy/public-config.ts'
import { publicConfig, publicConfigExample } from '../../records/server.ts'
import { json } from '../response.ts'
import { openOperation, type RouteDeps } from '../route.ts'

export const showConfig = ({ core }: RouteDeps) =>
  openOperation({
    tag: 'Service',
    summary: 'Show the features of this server',
    responses: { 200: { description: 'Its addresses and features', schema: publicConfig } },
    refusals: [400],
    example: () => ({ status: 200, response: publicConfigExample }),
    handle: () => json(200, describeInstance(core.config)),
  })
