/**
 * Orders one certificate (RFC 8555 section 7.4): order, proof of control of each name by http-01,
 * signing request with a new key, download. The result is checked before it replaces anything.
 */
import {
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  X509Certificate,
} from 'node:crypto'
import { calculateJwkThumbprint } from 'jose'
import { SECOND_MS } from '../../../base/clock.ts'
import { describePairFault, parsePair } from '../../../config/certificates/pair.ts'
import { parseRetryAfter } from '../../../outbound/http/retry-after.ts'
import { type Challenges, isToken } from './challenges.ts'
import { type AcmeClient, type AcmeDeps, type AcmeResponse, publicJwk } from './client.ts'
import { AcmeFailure, describeProblem } from './failure.ts'

type OrderDeps = Pick<AcmeDeps, 'now' | 'wait' | 'signal'> & {
  client: AcmeClient
  challenges: Challenges
}

type OrderInput = {
  /** The URL of the account. */
  account: string
  domains: readonly string[]
  /** The identifier of the certificate that this one replaces (RFC 9773 section 5). */
  replaces?: string | undefined
}

/** PEM: the key, and the chain that begins with the certificate. */
export type IssuedCertificate = { key: string; chain: string }

/** The shortest time between two requests for the status of a challenge or an order. */
const POLL_MS = SECOND_MS
const MAX_POLL_MS = 30 * SECOND_MS
const MAX_POLLS = 60
const UNFINISHED_STATES = new Set(['pending', 'processing', 'ready'])

/** @throws AcmeFailure, or the reason of `signal` */
export async function orderCertificate(
  deps: OrderDeps,
  input: OrderInput,
): Promise<IssuedCertificate> {
  const { client } = deps
  const { account, domains } = input
  const { headers, body } = await beginOrder(client, input)
  const orderUrl = requireText(headers.location, 'the URL of the order')
  for (const authorization of textsOf(body.authorizations)) {
    await authorize(deps, account, authorization)
  }
  await poll(deps, { account, url: orderUrl }, ['ready', 'valid'])
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const csr = createSigningRequest(privateKey, domains).toString('base64url')
  const finalize = requireText(body.finalize, 'finalize')
  await client.post(finalize, { payload: { csr }, signer: account })
  const order = await poll(deps, { account, url: orderUrl }, ['valid'])
  const certificate = requireText(order.body.certificate, 'the URL of the certificate')
  const { text } = await client.post(certificate, { signer: account })
  return checkIssued({ key: privateKey, chain: text }, domains, deps.now())
}

async function beginOrder(
  client: AcmeClient,
  { account, domains, replaces }: OrderInput,
): Promise<AcmeResponse> {
  const url = await client.resource('newOrder')
  if (url === undefined) throw new AcmeFailure('refused', 'the directory has no newOrder')
  const identifiers = domains.map((value) => ({ type: 'dns', value }))
  const order = (payload: object) => client.post(url, { payload, signer: account })
  if (replaces === undefined) return order({ identifiers })
  try {
    return await order({ identifiers, replaces })
  } catch (error) {
    if (!isOfReplacement(error)) throw error
    return order({ identifiers })
  }
}

/**
 * Whether the refusal may be due to the certificate that the order replaces: the authority knows
 * another successor, which was lost, or no longer knows the certificate (RFC 9773 section 5).
 */
function isOfReplacement(error: unknown): boolean {
  return error instanceof AcmeFailure && error.problem !== null && error.problem !== 'rateLimited'
}

/** Proves control of one name, unless the authority still believes an earlier proof. */
async function authorize(deps: OrderDeps, account: string, url: string): Promise<void> {
  const { client, challenges } = deps
  const { body } = await client.post(url, { signer: account })
  if (body.status === 'valid') return
  const challenge = listChallenges(body).find(({ type }) => type === 'http-01')
  if (challenge === undefined) {
    throw new AcmeFailure('refused', 'the authority offers no challenge http-01')
  }
  const token = requireText(challenge.token, 'a token')
  if (!isToken(token)) throw new AcmeFailure('refused', 'the authority sends an invalid token')
  const thumbprint = await calculateJwkThumbprint(publicJwk(client.accountKey))
  challenges.add(token, `${token}.${thumbprint}`)
  try {
    const challengeUrl = requireText(challenge.url, 'the URL of a challenge')
    await client.post(challengeUrl, { payload: {}, signer: account })
    await poll(deps, { account, url }, ['valid'])
  } finally {
    challenges.delete(token)
  }
}

type Polled = { account: string; url: string }

/**
 * Requests the status again and again until it is one of `wanted`.
 * @throws AcmeFailure when the status is `invalid`, or after `MAX_POLLS` requests
 */
async function poll(
  { client, now, wait, signal }: OrderDeps,
  { account, url }: Polled,
  wanted: readonly string[],
): Promise<AcmeResponse> {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    const response = await client.post(url, { signer: account })
    const status = String(response.body.status)
    if (wanted.includes(status)) return response
    if (!UNFINISHED_STATES.has(status)) {
      throw new AcmeFailure('refused', describeRefusal(response.body, status))
    }
    const asked = parseRetryAfter(response.headers['retry-after'], now()) ?? POLL_MS
    await wait(Math.min(Math.max(asked, POLL_MS), MAX_POLL_MS), signal)
  }
  throw new AcmeFailure('refused', 'the authority does not come to an end')
}

/** Describes the error of an order, or of the challenge that failed. */
function describeRefusal(body: Record<string, unknown>, status: string): string {
  const failed = [body, ...listChallenges(body)].find(({ error }) => error !== undefined)
  const { text } = describeProblem(failed?.error)
  const { value } = Object(body.identifier) as { value?: unknown }
  const subject = typeof value === 'string' ? describeProblem({ detail: value }).text : 'the order'
  return `${subject} is ${describeProblem({ detail: status }).text}${text === '' ? '' : `: ${text}`}`
}

/**
 * Checks the new certificate, because a wrong one must not replace a good one.
 * @throws AcmeFailure
 */
function checkIssued(
  { key, chain }: { key: KeyObject; chain: string },
  domains: readonly string[],
  at: number,
): IssuedCertificate {
  const certificate = parseCertificate(chain)
  const missing = domains.find((name) => certificate.checkHost(name) === undefined)
  if (missing !== undefined) {
    throw new AcmeFailure('refused', `the issued certificate is not for ${missing}`)
  }
  if (!certificate.checkPrivateKey(key)) {
    throw new AcmeFailure('refused', 'the issued certificate is not for the key of this server')
  }
  if (certificate.validToDate.getTime() <= at) {
    throw new AcmeFailure(
      'refused',
      'the issued certificate has expired by the clock of this server',
    )
  }
  const issued = { key: key.export({ type: 'pkcs8', format: 'pem' }).toString(), chain }
  checkUsable(issued)
  return issued
}

/** Requires that the key and the whole chain can be used. @throws AcmeFailure */
function checkUsable({ key, chain }: IssuedCertificate): void {
  try {
    parsePair(`${key}${chain}`)
  } catch (error) {
    const why = describePairFault(error)
    throw new AcmeFailure('refused', `the issued certificate cannot be used: ${why}`)
  }
}

function parseCertificate(chain: string): X509Certificate {
  try {
    return new X509Certificate(chain)
  } catch {
    throw new AcmeFailure('refused', 'the authority sends no certificate that can be read')
  }
}

function listChallenges(body: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(body.challenges) ? body.challenges.map(Object) : []
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : []
}

function requireText(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw new AcmeFailure('refused', `the authority does not send ${name}`)
}

const ECDSA_WITH_SHA256 = oid('2a8648ce3d040302')
/** The object identifier of extensionRequest in PKCS #9 (RFC 2985 section 5.4.2). */
const EXTENSION_REQUEST = oid('2a864886f70d01090e')
/** The object identifier of subjectAltName (RFC 5280 section 4.2.1.6). */
const SUBJECT_ALT_NAME = oid('551d11')

/**
 * Returns a certificate signing request (RFC 2986) in DER: P-256, with SHA-256. `domains`:
 * A-labels. The subject is empty, since authorities read the alternative names.
 */
export function createSigningRequest(key: KeyObject, domains: readonly string[]): Buffer {
  const publicKey = createPublicKey(key).export({ type: 'spki', format: 'der' })
  const names = sequence(...domains.map((name) => tagged(0x82, Buffer.from(name, 'ascii'))))
  const extension = sequence(SUBJECT_ALT_NAME, tagged(0x04, names))
  const attribute = sequence(EXTENSION_REQUEST, tagged(0x31, sequence(extension)))
  const version = tagged(0x02, Buffer.from([0]))
  const info = sequence(version, sequence(), publicKey, tagged(0xa0, attribute))
  const signature = sign('sha256', info, key)
  const bits = tagged(0x03, Buffer.concat([Buffer.from([0]), signature]))
  return sequence(info, sequence(ECDSA_WITH_SHA256), bits)
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function oid(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'))
}

/** Encodes a value as tag, length and content (X.690 section 8.1). */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  if (length < 0x80) return Buffer.concat([Buffer.from([tag, length]), content])
  const hex = length.toString(16)
  const digits = Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | digits.length]), digits, content])
}
