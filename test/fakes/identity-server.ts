/**
 * A server with the endpoints of an OpenID provider and those of GitHub, whose answers tests change. It
 * checks codes, PKCE and the client's secret as a real one does.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import type { GithubEndpoints } from '../../src/features/tenancy/accounts/oauth/github-provider.ts'

type Answer = (outgoing: ServerResponse, incoming: IncomingMessage) => void

export type IdentityServer = {
  origin: string
  github: GithubEndpoints
  client: { clientId: string; clientSecret: string }
  /** What `/user` and `/user/emails` of GitHub say. */
  githubUser: { id: unknown; emails: unknown }
  /** Changes the claims before they are signed. */
  change(claims: JWTPayload): JWTPayload
  /** Signs an id token; tests replace it. */
  sign(claims: JWTPayload): Promise<string>
  signRightly(claims: JWTPayload): Promise<string>
  metadata: Record<string, unknown>
  userInfo: Record<string, unknown> | undefined
  /** Answers in place of those of a path. */
  instead: Map<string, Answer>
  /** The paths that were asked for. */
  asked: string[]
  /** Agrees to the request that the browser was sent with; returns its code. */
  agree(request: URL, user?: { sub: string } & Record<string, unknown>): string
  stop(): Promise<void>
}

type Grant = { challenge: string; redirectUri: string; nonce: string | null; user: JWTPayload }

export const ANN = { sub: 'ann-1', email: 'ann@people.test', email_verified: true }

export async function startIdentityServer(now: () => number = Date.now): Promise<IdentityServer> {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  const grants = new Map<string, Grant>()
  const tokens = new Set<string>()
  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing).catch((error: unknown) => outgoing.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = { clientId: 'pillarbox', clientSecret: 'the secret+of/the client' }

  const fake: IdentityServer = {
    origin,
    client,
    github: {
      issuer: `${origin}/login/oauth`,
      authorize: `${origin}/login/oauth/authorize`,
      token: `${origin}/login/oauth/access_token`,
      user: `${origin}/user`,
      emails: `${origin}/user/emails`,
    },
    githubUser: {
      id: 4711,
      emails: [
        { email: 'other@people.test', primary: false, verified: true, visibility: null },
        { email: 'ann@people.test', primary: true, verified: true, visibility: 'private' },
      ],
    },
    change: (claims) => claims,
    sign: (claims) => fake.signRightly(claims),
    signRightly: (claims) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'k1' }).sign(privateKey),
    metadata: {},
    userInfo: undefined,
    instead: new Map(),
    asked: [],
    agree: (request, user = ANN) => {
      const code = randomBytes(16).toString('hex')
      const { searchParams } = request
      grants.set(code, {
        challenge: searchParams.get('code_challenge') ?? '',
        redirectUri: searchParams.get('redirect_uri') ?? '',
        nonce: searchParams.get('nonce'),
        user,
      })
      return code
    },
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { pathname } = new URL(incoming.url ?? '/', origin)
    fake.asked.push(pathname)
    const other = fake.instead.get(pathname)
    if (other !== undefined) return other(outgoing, incoming)
    const [status, body] = await contentOf(pathname, incoming)
    outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

  async function contentOf(
    pathname: string,
    incoming: IncomingMessage,
  ): Promise<[status: number, body: unknown]> {
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return [200, { ...metadata(), ...fake.metadata }]
      case '/jwks':
        return [200, { keys: [jwk] }]
      case '/token':
        return redeem(await formOf(incoming), incoming, true)
      case '/login/oauth/access_token':
        return redeem(await formOf(incoming), incoming, false)
    }
    const [, token = ''] = /^Bearer (.+)$/i.exec(incoming.headers.authorization ?? '') ?? []
    if (!tokens.has(token)) return [401, { message: 'Bad credentials' }]
    if (pathname === '/userinfo') return [200, fake.userInfo]
    if (pathname === '/user') return [200, { login: 'ann', id: fake.githubUser.id }]
    return [200, fake.githubUser.emails]
  }

  const metadata = () => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    id_token_signing_alg_values_supported: ['RS256'],
    ...(fake.userInfo === undefined ? {} : { userinfo_endpoint: `${origin}/userinfo` }),
  })

  async function redeem(
    form: URLSearchParams,
    { headers }: IncomingMessage,
    isOpenid: boolean,
  ): Promise<[status: number, body: unknown]> {
    const [id, secret] = credentialsOf(form, headers.authorization)
    if (id !== client.clientId || secret !== client.clientSecret) {
      return [isOpenid ? 401 : 200, { error: 'invalid_client' }]
    }
    const code = form.get('code') ?? ''
    const grant = grants.get(code)
    grants.delete(code)
    const digest = createHash('sha256').update(form.get('code_verifier') ?? '')
    const isRight =
      grant?.challenge === digest.digest('base64url') &&
      grant.redirectUri === form.get('redirect_uri')
    if (grant === undefined || !isRight) {
      return [isOpenid ? 400 : 200, { error: 'bad_verification_code' }]
    }
    const token = randomBytes(16).toString('hex')
    tokens.add(token)
    const shared = { access_token: token, token_type: 'bearer' }
    if (!isOpenid) return [200, { ...shared, scope: 'user:email' }]
    const at = Math.floor(now() / 1000)
    const times = { iat: at, exp: at + 300 }
    const own = { iss: origin, aud: client.clientId, ...times, ...grant.user }
    const claims = grant.nonce === null ? own : { ...own, nonce: grant.nonce }
    return [200, { ...shared, id_token: await fake.sign(fake.change(claims)) }]
  }

  return fake
}

function credentialsOf(form: URLSearchParams, authorization = ''): (string | null)[] {
  const [, basic] = /^Basic (.+)$/.exec(authorization) ?? []
  if (basic === undefined) return [form.get('client_id'), form.get('client_secret')]
  const pair = Buffer.from(basic, 'base64').toString().split(':')
  return pair.map((part) => decodeURIComponent(part.replaceAll('+', ' ')))
}

async function formOf(incoming: IncomingMessage): Promise<URLSearchParams> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  return new URLSearchParams(Buffer.concat(chunks).toString())
}
