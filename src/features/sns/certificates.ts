/**
 * The certificates that SNS signs with, by address. They come from a host of SNS by HTTPS, whose own
 * certificate says that it is one; what is served there must besides be in force and name SNS.
 */

import { X509Certificate } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { DAY_MS } from '../../clock.ts'
import { AppError } from '../../errors.ts'
import type { PublicFetch } from '../../outbound/http/public-fetch.ts'
import type { Base } from '../base.ts'
import { untrusted } from './untrusted.ts'

export type Certificates = {
  /**
   * @throws AppError FORBIDDEN for what is no certificate of SNS, EXTERNAL_SERVICE_ERROR when it
   * cannot be had at the moment
   */
  get(url: URL): Promise<X509Certificate>
}

type Known = { certificate: Promise<X509Certificate>; expiresAt: number }

/** SNS has one or two a region at a time. */
const MAX_KNOWN = 100
const REMEMBERED_MS = DAY_MS
/** So that a stranger who knows a topic's name cannot make us ask without end. */
const FAILURE_REMEMBERED_MS = 10_000
const MAX_FETCHES = 4

/** Of most regions; the others' have their region in it. */
const COMMON_NAMES = ['sns.amazonaws.com', 'sns.amazonaws.com.cn']
/** Signs in the region beside it too. */
const GOVERNMENT_NAME = 'sns-us-gov-west-1.amazonaws.com'

export function createCertificates({
  publicFetch,
  now,
}: Pick<Base, 'publicFetch' | 'now'>): Certificates {
  const good = new LRUCache<string, Known>({ max: MAX_KNOWN })
  // Apart, so that whatever else is named crowds no good one out.
  const tried = new LRUCache<string, Known>({ max: MAX_KNOWN })
  let fetches = 0

  async function fetchOne(url: URL): Promise<X509Certificate> {
    if (fetches >= MAX_FETCHES) throw unavailable('too many certificates are being fetched')
    fetches += 1
    try {
      const certificate = await fetchCertificate(publicFetch, url)
      checkValidity(certificate, now())
      return certificate
    } finally {
      fetches -= 1
    }
  }

  function look(url: URL): Promise<X509Certificate> {
    const known = [good, tried].map((entries) => entries.get(url.href))
    const entry = known.find((each) => each !== undefined && each.expiresAt > now())
    if (entry !== undefined) return entry.certificate
    const certificate = fetchOne(url)
    const fresh = { certificate, expiresAt: now() + REMEMBERED_MS }
    tried.set(url.href, fresh)
    certificate.then(
      () => {
        good.set(url.href, fresh)
        tried.delete(url.href)
      },
      () => {
        fresh.expiresAt = now() + FAILURE_REMEMBERED_MS
      },
    )
    return certificate
  }

  return {
    async get(url) {
      const certificate = await look(url)
      checkValidity(certificate, now())
      return certificate
    },
  }
}

async function fetchCertificate(publicFetch: PublicFetch, url: URL): Promise<X509Certificate> {
  const answer = await publicFetch(url)
  if (!answer.ok) throw answer.isRefused ? untrusted(answer.error) : unavailable(answer.error)
  if (answer.status >= 500) throw unavailable(`${url.href} answered ${answer.status}`)
  if (answer.status !== 200) throw untrusted(`${url.href} answered ${answer.status}`)
  const certificate = parse(answer.body)
  const isOfSns = namesOf(url).some((name) => certificate.checkHost(name))
  if (!isOfSns) throw untrusted(`the certificate is of ${certificate.subject}`)
  if (certificate.publicKey.asymmetricKeyType !== 'rsa') throw untrusted('the key is not RSA')
  return certificate
}

/** What the certificates of its region are issued to, as the AWS SDKs know it. */
function namesOf({ hostname }: URL): string[] {
  const place = hostname.slice('sns.'.length)
  const names = [...COMMON_NAMES, hostname, `sns-signing.${place}`, `sns-${place}`]
  return place.startsWith('us-gov-') ? [...names, GOVERNMENT_NAME] : names
}

function parse(pem: Buffer): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw untrusted('the certificate cannot be read', error)
  }
}

function checkValidity({ validFromDate, validToDate }: X509Certificate, at: number): void {
  if (at < validFromDate.getTime() || at > validToDate.getTime()) {
    throw untrusted('the certificate is not in force')
  }
}

function unavailable(cause: string): AppError {
  return new AppError(
    'EXTERNAL_SERVICE_ERROR',
    'The signature of the notification cannot be checked at the moment.',
    { cause: new Error(cause) },
  )
}
