/**
 * A certificate authority that speaks ACME (RFC 8555, RFC 9773) in this process: it checks signatures and nonces,
 * asks for the answer to each challenge, and certifies the key of the signing request. It has no sockets: tests give
 * its `request` to the client in place of HTTP.
 */
import { randomBytes, X509Certificate } from 'node:crypto'
import { calculateJwkThumbprint, flattenedVerify, importJWK, type JWK } from 'jose'
import { DAY_MS } from '../../src/base/clock.ts'
import { certificateId } from '../../src/features/operation/acme/renewal.ts'
import { makeCertificate } from './certificate.ts'

export type Answer = { status: number; headers?: Record<string, string>; body?: unknown }

/** `body` of a request that is not GET: the signed text. */
export type AuthorityRequest = { method: string; url: string; body: string }

type Order = {
  domains: string[]
  replaces: string | undefined
  token: string
  isProven: boolean | null
  chain: string | null
}

export type AuthorityOptions = {
  now(): number
  /** The answer to the challenge with this token, or undefined. */
  findAnswer(token: string): Promise<string | undefined> | string | undefined
  lifeMs?: number
}

export type Authority = {
  directoryUrl: string
  request(request: AuthorityRequest): Promise<Answer>
  /** The steps that were taken, in order: the first part of each path, such as `order`. */
  steps: string[]
  orders: Order[]
  accounts: Map<string, JWK>
  /** Called when a step had its effect, before it is answered. */
  onDone: (step: string) => Promise<void> | void
  /** Answers a request for the renewal information of a certificate. */
  renewal: (id: string) => Answer
}

const ORIGIN = 'https://acme.example.test'
/** The start of a SubjectPublicKeyInfo with a key on P-256, and its length. */
const SPKI = Buffer.from('3059301306072a8648ce3d0201', 'hex')
const SPKI_LENGTH = 91
const AUTHORITY_KEY = Buffer.from('69885b6b87464041e1b37b847ba0ae2cde01c8d4', 'hex')

export function createAuthority({
  now,
  findAnswer,
  lifeMs = 90 * DAY_MS,
}: AuthorityOptions): Authority {
  const nonces = new Set<string>()
  const replaced = new Set<string>()
  const urlOf = (...parts: (string | number)[]) => [ORIGIN, ...parts].join('/')

  async function verify(request: AuthorityRequest) {
    const signed = JSON.parse(request.body)
    const header = JSON.parse(Buffer.from(signed.protected, 'base64url').toString())
    if (!nonces.delete(header.nonce)) return problem(400, 'badNonce')
    if (header.url !== request.url) return problem(401, 'unauthorized')
    const jwk: JWK | undefined = header.jwk ?? authority.accounts.get(header.kid)
    if (jwk === undefined) return problem(400, 'accountDoesNotExist')
    const { payload } = await flattenedVerify(signed, await importJWK(jwk, 'ES256'))
    const text = Buffer.from(payload).toString()
    return { jwk, payload: text === '' ? null : JSON.parse(text) }
  }

  async function registerAccount(jwk: JWK): Promise<Answer> {
    const url = urlOf('account', await calculateJwkThumbprint(jwk))
    const isKnown = authority.accounts.has(url)
    authority.accounts.set(url, jwk)
    return { status: isKnown ? 200 : 201, headers: { location: url }, body: { status: 'valid' } }
  }

  function beginOrder(payload: { identifiers: { value: string }[]; replaces?: string }): Answer {
    const { identifiers, replaces } = payload
    if (replaces !== undefined && replaced.has(replaces)) return problem(409, 'alreadyReplaced')
    const domains = identifiers.map(({ value }) => value)
    const token = randomBytes(16).toString('base64url')
    authority.orders.push({ domains, replaces, token, isProven: null, chain: null })
    const number = authority.orders.length
    return { status: 201, headers: { location: urlOf('order', number) }, body: showOrder(number) }
  }

  const orderOf = (number: number) => authority.orders[number - 1] as Order

  function showOrder(number: number) {
    const { isProven, chain } = orderOf(number)
    const open = isProven === null ? 'pending' : isProven ? 'ready' : 'invalid'
    return {
      status: chain === null ? open : 'valid',
      authorizations: [urlOf('authorization', number)],
      finalize: urlOf('finalize', number),
      ...(chain === null ? {} : { certificate: urlOf('certificate', number) }),
    }
  }

  function showAuthorization(number: number): Answer {
    const { token, isProven, domains } = orderOf(number)
    const status = isProven === null ? 'pending' : isProven ? 'valid' : 'invalid'
    const challenges = [{ type: 'http-01', token, url: urlOf('challenge', number) }]
    return ok({ status, identifier: { type: 'dns', value: domains[0] }, challenges })
  }

  async function prove(number: number, jwk: JWK): Promise<Answer> {
    const order = orderOf(number)
    const wanted = `${order.token}.${await calculateJwkThumbprint(jwk)}`
    order.isProven = (await findAnswer(order.token)) === wanted
    return ok({ status: 'processing' })
  }

  function finalize(number: number, { csr }: { csr: string }): Answer {
    const order = orderOf(number)
    if (order.isProven !== true) return problem(403, 'orderNotReady')
    const der = Buffer.from(csr, 'base64url')
    const at = der.indexOf(SPKI)
    order.chain = makeCertificate(order.domains, {
      validFrom: now(),
      validTo: now() + lifeMs,
      publicKey: der.subarray(at, at + SPKI_LENGTH),
      authorityKey: AUTHORITY_KEY,
    }).cert
    if (order.replaces !== undefined) replaced.add(order.replaces)
    return ok(showOrder(number))
  }

  async function answer(step: string, rest: string, request: AuthorityRequest): Promise<Answer> {
    if (step === 'directory') return ok(describeDirectory(urlOf))
    if (step === 'nonce') return { status: 200 }
    if (step === 'renewal') return authority.renewal(rest)
    const verified = await verify(request)
    if ('status' in verified) return verified
    const { jwk, payload } = verified
    const number = Number(rest)
    if (step === 'new-account') return registerAccount(jwk)
    if (step === 'account') return ok({ status: 'valid' })
    if (step === 'new-order') return beginOrder(payload)
    if (step === 'authorization') return showAuthorization(number)
    if (step === 'challenge') return prove(number, jwk)
    if (step === 'order') return ok(showOrder(number))
    if (step === 'finalize') return finalize(number, payload)
    if (step === 'certificate') return { status: 200, body: orderOf(number).chain }
    return problem(404, 'malformed')
  }

  const authority: Authority = {
    directoryUrl: urlOf('directory'),
    async request(request) {
      const [step = '', rest = ''] = new URL(request.url).pathname.slice(1).split('/')
      authority.steps.push(step)
      const answered = await answer(step, rest, request)
      await authority.onDone(step)
      const nonce = randomBytes(8).toString('hex')
      nonces.add(nonce)
      return { ...answered, headers: { ...answered.headers, 'replay-nonce': nonce } }
    },
    steps: [],
    orders: [],
    accounts: new Map(),
    onDone: () => undefined,
    renewal: () => problem(404, 'malformed'),
  }
  return authority
}

/** The identifier of a chain's certificate in requests about its renewal. */
export function idOf(chain: string | null): string {
  return certificateId(new X509Certificate(chain ?? '')) ?? ''
}

export function textOf({ body }: Answer): string {
  return typeof body === 'string' ? body : JSON.stringify(body ?? {})
}

function describeDirectory(urlOf: (...parts: string[]) => string) {
  return {
    newNonce: urlOf('nonce'),
    newAccount: urlOf('new-account'),
    newOrder: urlOf('new-order'),
    renewalInfo: urlOf('renewal'),
  }
}

function ok(body: unknown): Answer {
  return { status: 200, body }
}

export function problem(status: number, type: string): Answer {
  return { status, body: { type: `urn:ietf:params:acme:error:${type}`, detail: 'No.' } }
}
