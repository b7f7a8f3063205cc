/**
 * Decides whether a message of SNS is trusted: its topic is listed, it is recent, and its signature
 * is valid.
 *
 * Fetches and caches the certificates with which SNS signs. They come by HTTPS from a host of SNS,
 * must be within their period of validity, and must be issued to SNS.
 */
import { verify, X509Certificate } from 'node:crypto'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { createLru } from '../../../base/lru.ts'
import type { PublicFetch } from '../../../outbound/http/clients.ts'
import type { Base } from '../../ground/base.ts'
import { parseCertificateUrl, type SnsMessage, signedText, untrusted } from './message.ts'

type SigningCertificates = {
  /**
   * Returns the certificate at a URL.
   * @throws AppError FORBIDDEN when the URL has no certificate of SNS, EXTERNAL_SERVICE_ERROR when
   *   the certificate cannot be fetched at the moment
   */
  get(url: URL): Promise<X509Certificate>
}

type CachedCertificate = { certificate: Promise<X509Certificate>; expiresAt: number }

/** The most certificates in the cache. SNS has one or two for a region at a time. */
const MAX_CACHED = 100
const CACHE_MS = DAY_MS
/**
 * How long a certificate's URL is remembered after its download failed. Without this, each message of
 * a stranger who knows the name of a topic could cause a request.
 */
const FAILURE_CACHE_MS = 10_000
const MAX_FETCHES = 4

/**
 * The greatest age of a message: an hour for the retries of SNS, and an hour for delays within SNS.
 */
const MAX_AGE_MS = 2 * HOUR_MS
const MAX_AHEAD_MS = 15 * MINUTE_MS

/** The names in the certificates of most regions; in other regions the name contains the region. */
const COMMON_NAMES = ['sns.amazonaws.com', 'sns.amazonaws.com.cn']
/** The name in the certificate for both regions of GovCloud. */
const GOVERNMENT_NAME = 'sns-us-gov-west-1.amazonaws.com'

/**
 * Returns a function that resolves if the message is trusted. The function throws AppError FORBIDDEN,
 * EXTERNAL_SERVICE_ERROR.
 */
export function createAuthentication(
  deps: Pick<Base, 'config' | 'publicFetch' | 'now'>,
): (message: SnsMessage) => Promise<void> {
  const { config, now } = deps
  const certificates = createSigningCertificates(deps)
  return async function authenticate(message) {
    const { topicArn, at, signatureVersion, signature, signingCertUrl } = message
    if (!config.sns.topicArns.includes(topicArn)) throw untrusted('the topic is not listed')
    const ageMs = now() - at
    if (ageMs > MAX_AGE_MS || ageMs < -MAX_AHEAD_MS)
      throw untrusted('its time is too far in the past or future')
    const url = parseCertificateUrl(signingCertUrl)
    if (url === undefined) throw untrusted('the certificate is not at a host of SNS')
    const { publicKey } = await certificates.get(url)
    const algorithm = signatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
    const signed = Buffer.from(signedText(message))
    if (!verify(algorithm, signed, publicKey, Buffer.from(signature, 'base64'))) {
      throw untrusted('the signature is not valid')
    }
  }
}

function createSigningCertificates({
  publicFetch,
  now,
}: Pick<Base, 'publicFetch' | 'now'>): SigningCertificates {
  const good = createLru<CachedCertificate>(MAX_CACHED)
  // The URLs that were tried have a cache of their own, so that requests for wrong URLs cannot
  // evict good certificates.
  const tried = createLru<CachedCertificate>(MAX_CACHED)
  let fetches = 0

  async function fetchOne(url: URL): Promise<X509Certificate> {
    if (fetches >= MAX_FETCHES) throw unavailable('too many certificates are being fetched')
    fetches += 1
    try {
      const certificate = await fetchCertificate(publicFetch, url)
      requireValidCertificate(certificate, now())
      return certificate
    } finally {
      fetches -= 1
    }
  }

  function find(url: URL): Promise<X509Certificate> {
    const cached = [good, tried].map((entries) => entries.get(url.href))
    const entry = cached.find((each) => each !== undefined && each.expiresAt > now())
    if (entry !== undefined) return entry.certificate
    const certificate = fetchOne(url)
    const fresh = { certificate, expiresAt: now() + CACHE_MS }
    tried.set(url.href, fresh)
    certificate.then(
      () => {
        good.set(url.href, fresh)
        tried.delete(url.href)
      },
      () => {
        fresh.expiresAt = now() + FAILURE_CACHE_MS
      },
    )
    return certificate
  }

  return {
    async get(url) {
      const certificate = await find(url)
      requireValidCertificate(certificate, now())
      return certificate
    },
  }
}

async function fetchCertificate(publicFetch: PublicFetch, url: URL): Promise<X509Certificate> {
  const response = await publicFetch(url)
  if (!response.ok)
    throw response.isRefused ? untrusted(response.error) : unavailable(response.error)
  if (response.status >= 500) throw unavailable(`${url.href} responded with ${response.status}`)
  if (response.status !== 200) throw untrusted(`${url.href} responded with ${response.status}`)
  const certificate = parse(response.body)
  const isOfSns = namesOf(url).some((name) => certificate.checkHost(name))
  if (!isOfSns) throw untrusted(`the certificate is issued to ${certificate.subject}`)
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') throw untrusted('the key is not RSA')
  return certificate
}

/** Returns the names to which a region's certificates are issued, as the AWS SDKs list them. */
function namesOf({ hostname }: URL): string[] {
  const region = hostname.slice('sns.'.length)
  const names = [...COMMON_NAMES, hostname, `sns-signing.${region}`, `sns-${region}`]
  return region.startsWith('us-gov-') ? [...names, GOVERNMENT_NAME] : names
}

function parse(pem: Buffer): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw untrusted('the certificate cannot be read', error)
  }
}

function requireValidCertificate(
  { validFromDate, validToDate }: X509Certificate,
  at: number,
): void {
  if (at < validFromDate.getTime() || at > validToDate.getTime()) {
    throw untrusted('the certificate is not valid at this time')
  }
}

function unavailable(cause: string): AppError {
  return new AppError(
    'EXTERNAL_SERVICE_ERROR',
    'The signature of the notification cannot be checked at the moment.',
    { cause: new Error(cause) },
  )
}
