/** A real OpenID provider in this process, with the forms of its development mode. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type ClientAuthMethod } from 'oidc-provider'

export type OpenidProvider = {
  issuer: string
  /** The claims of a user by the name that the user logs in with. */
  users: Map<string, { email: string; email_verified: boolean }>
  stop(): Promise<void>
}

type Client = { id: string; secret: string; callback: string; method?: ClientAuthMethod }

export async function startOpenidProvider(clients: readonly Client[]): Promise<OpenidProvider> {
  const users: OpenidProvider['users'] = new Map()
  let handle: RequestListener = () => undefined
  const server = createServer((incoming, outgoing) => handle(incoming, outgoing))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    clients: clients.map(({ id, secret, callback, method = 'client_secret_basic' }) => ({
      client_id: id,
      client_secret: secret,
      redirect_uris: [callback],
      token_endpoint_auth_method: method,
    })),
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    pkce: { required: () => true },
    findAccount: (_context, sub) => ({
      accountId: sub,
      claims: async () => ({ sub, ...users.get(sub) }),
    }),
  })
  handle = provider.callback()
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { issuer, users, stop }
}
