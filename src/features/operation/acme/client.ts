/**
 * Speaks with the directory of a certificate authority (RFC 8555 section 6): signed requests with
 * nonces, and the account that signs them. Each response is bounded, no redirect is followed, and
 * requests go to the origins that the directory itself names, over https.
 *
 * Each directory and external account has an account key of its own, in
 * `<data_dir>/acme/account-<hash>.json`, made before the account is. Registering a key again
 * returns its account (RFC 8555 section 7.3.1), so the URL of the account is asked for with each
 * order and not kept.
 *
 * The library `acme-client` is not used: it follows redirects, reads responses of any length,
 * waits for minutes without an end, hides Retry-After from its caller, and brings fifty packages
 * along.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import path from 'node:path'
import { FlattenedSign, type JWK } from 'jose'
import { type Now, SECOND_MS } from '../../../base/clock.ts'
import { hasCode } from '../../../base/errors.ts'
import type { AcmeConfig } from '../../../config/config.ts'
import { replaceFile } from '../../../config/replace-file.ts'
import { productVersion } from '../../../config/version.ts'
import type { HttpClient, HttpRequest } from '../../../outbound/http/client.ts'
import { parseRetryAfter } from '../../../outbound/http/retry-after.ts'
import { AcmeFailure, describeProblem } from './failure.ts'

export type AcmeDeps = {
  http: Pick<HttpClient, 'request'>
  now: Now
  /** Waits. Rejects when `signal` aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
  signal: AbortSignal
}

export type AcmeResponse = {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The parsed JSON of the body; an empty object for any other body. */
  body: Record<string, unknown>
}

export type AcmeClient = {
  accountKey: KeyObject
  /**
   * Finds the URL of a resource; undefined if this authority does not have the resource.
   * @throws AcmeFailure
   */
  resource(name: string): Promise<string | undefined>
  /** Sends an unsigned GET. @throws AcmeFailure */
  get(url: string): Promise<AcmeResponse>
  /**
   * Sends a signed request; without `payload`, it is the POST-as-GET of RFC 8555 section 6.3. `signer`:
   * the URL of the account; without it, the request carries the public key.
   * @throws AcmeFailure unless the status is 2xx
   */
  post(url: string, request: { payload?: unknown; signer: string | null }): Promise<AcmeResponse>
}

const TIMEOUT_MS = 20 * SECOND_MS
const MAX_BODY_BYTES = 256 * 1024
/**
 * How many nonces a request tries. The authority may refuse a nonce, and then a new one is used
 * (RFC 8555 section 6.5).
 */
const MAX_NONCES = 6
const RESOURCES = ['newNonce', 'newAccount', 'newOrder', 'renewalInfo'] as const

export function createAcmeClient(
  deps: AcmeDeps,
  { directoryUrl, accountKey }: { directoryUrl: string; accountKey: KeyObject },
): AcmeClient {
  const origins = new Set([new URL(directoryUrl).origin])
  let directory: Record<string, unknown> | undefined
  let nonce: string | undefined

  async function send(url: string, request: Partial<HttpRequest>): Promise<AcmeResponse> {
    const response = await exchange(deps, { ...request, url: allowedUrl(url) })
    const { 'replay-nonce': fresh } = response.headers
    nonce = typeof fresh === 'string' ? fresh : undefined
    return response
  }

  function allowedUrl(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url?.protocol === 'https:' && origins.has(url.origin)) return url
    throw new AcmeFailure(
      'refused',
      'the authority names a URL on a host of which its directory knows nothing',
    )
  }

  async function resource(name: string): Promise<string | undefined> {
    if (directory === undefined) {
      const { body } = await send(directoryUrl, {})
      for (const known of RESOURCES) addOrigin(origins, body[known])
      directory = body
    }
    const url = directory[name]
    return typeof url === 'string' ? url : undefined
  }

  async function takeNonce(): Promise<string> {
    if (nonce === undefined) {
      const url = await resource('newNonce')
      if (url === undefined) throw new AcmeFailure('refused', 'the directory has no newNonce')
      await send(url, { method: 'HEAD' })
    }
    const taken = nonce
    nonce = undefined
    if (taken === undefined) throw new AcmeFailure('refused', 'the authority gives no nonce')
    return taken
  }

  const post: AcmeClient['post'] = async (url, { payload, signer }) => {
    for (let tries = 1; ; tries += 1) {
      const key = signer === null ? { jwk: publicJwk(accountKey) } : { kid: signer }
      const header = { alg: 'ES256', nonce: await takeNonce(), url, ...key }
      const octets = new TextEncoder().encode(payload === undefined ? '' : JSON.stringify(payload))
      const signed = await new FlattenedSign(octets).setProtectedHeader(header).sign(accountKey)
      try {
        return await send(url, {
          method: 'POST',
          headers: { 'content-type': 'application/jose+json' },
          body: JSON.stringify(signed),
          // A repetition is safe: the authority refuses a repeated nonce, so it acts at most once.
          isRepeatable: true,
        })
      } catch (error) {
        const isNonce = error instanceof AcmeFailure && error.problem === 'badNonce'
        if (!isNonce || tries >= MAX_NONCES) throw error
      }
    }
  }

  return { accountKey, resource, get: (url) => send(url, {}), post }
}

/**
 * Makes the binding that ties the key of our account to an account that the operator has at the
 * authority (RFC 8555 section 7.3.4).
 */
async function bindExternalAccount(
  accountKey: KeyObject,
  { kid, hmacKey }: { kid: string; hmacKey: string },
  url: string,
): Promise<unknown> {
  const octets = new TextEncoder().encode(JSON.stringify(publicJwk(accountKey)))
  const secret = createSecretKey(Buffer.from(hmacKey, 'base64url'))
  return new FlattenedSign(octets).setProtectedHeader({ alg: 'HS256', kid, url }).sign(secret)
}

export function publicJwk(key: KeyObject): JWK {
  return createPublicKey(key).export({ format: 'jwk' }) as JWK
}

function addOrigin(origins: Set<string>, url: unknown): void {
  if (typeof url === 'string' && URL.canParse(url)) origins.add(new URL(url).origin)
}

async function exchange(
  { http, now, signal }: AcmeDeps,
  request: Partial<HttpRequest> & { url: URL },
): Promise<AcmeResponse> {
  const result = await http.request({
    ...request,
    headers: { 'user-agent': `Pillarbox/${productVersion()}`, ...request.headers },
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_BODY_BYTES,
    signal,
  })
  if (result.kind !== 'response') {
    throw new AcmeFailure('unreachable', `${request.url.host} is unreachable: ${result.error}`)
  }
  const { status, headers } = result
  const text = result.body.toString('utf8')
  const response: AcmeResponse = { status, headers, text, body: parseObject(text) }
  if (status >= 200 && status < 300) return response
  const { problem, text: said } = describeProblem(response.body)
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now())
  const shown = said === '' ? `HTTP status ${status}` : said
  // An error without a problem document comes from a server in front of the authority.
  const kind = problem === null && status >= 500 ? 'unreachable' : 'refused'
  throw new AcmeFailure(kind, `${request.url.host} answers ${shown}`, { retryAfterMs, problem })
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

type AccountFile = { directoryUrl: string; email: string | null; key: string }

/**
 * Returns the key of the account, and makes the key at the first call.
 * @throws Error for a broken file
 */
export async function loadAccountKey(acme: AcmeConfig): Promise<KeyObject> {
  const known = await readAccount(acme)
  if (known !== undefined) return createPrivateKey(known.key)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  await writeAccount(acme, privateKey, null)
  return privateKey
}

/** Returns the URL of the account, which has the address of the configuration. @throws AcmeFailure */
export async function registerAccount(client: AcmeClient, acme: AcmeConfig): Promise<string> {
  const url = await client.resource('newAccount')
  if (url === undefined) throw new AcmeFailure('refused', 'the directory has no newAccount')
  const { accountKey } = client
  const binding =
    acme.eab === null
      ? {}
      : { externalAccountBinding: await bindExternalAccount(accountKey, acme.eab, url) }
  const contact = [`mailto:${acme.email}`]
  const payload = { termsOfServiceAgreed: true, contact, ...binding }
  const { status, headers } = await client.post(url, { payload, signer: null })
  const { location } = headers
  if (location === undefined) throw new AcmeFailure('refused', 'the authority names no account')
  const known = await readAccount(acme)
  if (known?.email === acme.email) return location
  // An account that existed already has kept its previous address.
  if (status === 200) await client.post(location, { payload: { contact }, signer: location })
  await writeAccount(acme, accountKey, acme.email)
  return location
}

async function readAccount(acme: AcmeConfig): Promise<AccountFile | undefined> {
  const text = await readFile(accountFile(acme), 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  return text === undefined ? undefined : JSON.parse(text)
}

async function writeAccount(acme: AcmeConfig, key: KeyObject, email: string | null): Promise<void> {
  const pem = key.export({ type: 'pkcs8', format: 'pem' }).toString()
  const account: AccountFile = { directoryUrl: acme.directoryUrl, email, key: pem }
  await replaceFile(accountFile(acme), `${JSON.stringify(account, null, 2)}\n`)
}

function accountFile({ folder, directoryUrl, eab }: AcmeConfig): string {
  const digest = createHash('sha256')
    .update(`${directoryUrl}\n${eab?.kid ?? ''}`)
    .digest('hex')
  return path.join(folder, `account-${digest.slice(0, 16)}.json`)
}
