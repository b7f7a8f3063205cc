/**
 * The checks of the places that others connect to: `base_url`, and TLS at the listeners.
 *
 * `base_url`: whether it leads to this very process, and whether mail programs can unsubscribe somebody
 * there. Each request carries a word that only this process knows (`arrivals.ts`), so an answer of another
 * server is recognised even if that is another Pillarbox.
 *
 * TLS: the life of the certificates, and STARTTLS at port 25.
 */
import type { X509Certificate } from 'node:crypto'

import { formatSecond } from '../../../base/clock.ts'
import { findNameFaults, namesOfListener } from '../../../config/certificates/faults.ts'
import type { TlsListener } from '../../../config/certificates/tls-listener.ts'
import type { Config } from '../../../config/config.ts'
import { formatListenAddress } from '../../../config/values/listen-address.ts'
import { describeProbeReply } from '../../../outbound/probe/probe-smtp.ts'
import {
  type Check,
  type CheckContext,
  type CheckOutcome,
  type CheckPart,
  combine,
  failed,
  NEEDS_SERVER,
  ok,
  skipInSandbox,
  skipped,
  warning,
} from './check.ts'
import type { ListenerFindings } from './facts.ts'

const ONE_CLICK_BODY = 'List-Unsubscribe=One-Click'

/** The faults of a certificate's dates. `certificatesCheck` judges them. */
const DATE_FAULTS = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

const FROM_ELSEWHERE =
  'Fetch this address from another machine. If that works, this machine is behind NAT and nothing is wrong; otherwise check the A record of its host, the firewall and the proxy.'

/**
 * Whether `base_url` leads to this process over TLS that browsers trust. No connection is a
 * warning: a machine behind NAT often cannot reach its own public address.
 */
export const baseUrlCheck: Check = {
  id: 'base_url',
  run: async (context) => {
    const { config, server, facts } = context
    const skip = skipInSandbox(config)
    if (skip !== undefined) return skip
    if (server === null) return skipped(NEEDS_SERVER)
    const tls = await facts.baseUrlTls()
    if (tls !== null && tls.certificate === null)
      return warning(describe(context, tls.error), FROM_ELSEWHERE)
    if (tls?.certificate && tls.distrust !== null) return distrusted(context, tls.distrust)
    const outcome = await request(context, server)
    if (outcome.status !== 'ok' || tls !== null) return outcome
    const text = `${config.baseUrl} is not https: mail programs and browsers warn of such links`
    return warning(text, `base_url = "${config.baseUrl.replace(/^http:/, 'https:')}"`)
  },
}

function describe({ config }: Pick<CheckContext, 'config'>, error: string): string {
  return `${config.baseUrl} cannot be reached from here: ${error}`
}

function distrusted({ config }: Pick<CheckContext, 'config'>, code: string): CheckOutcome {
  const text = `clients do not trust the certificate of ${config.baseUrl}: ${code}`
  const fix = `Renew the certificate for ${new URL(config.baseUrl).hostname}, with its whole chain.`
  const isDate = DATE_FAULTS.has(code)
  return { ...failed(text, fix), ...(isDate ? { follows: ['certificates'] as const } : {}) }
}

async function request(
  context: CheckContext,
  server: NonNullable<CheckContext['server']>,
): Promise<CheckOutcome> {
  const { config, probes } = context
  const arrival = server.arrivals.expect()
  const url = new URL(`${config.baseUrl}/manage/${arrival.word}`)
  const result = await probes.request({ url, method: 'GET' })
  const hasArrived = arrival.hasArrived()
  arrival.end()
  if (hasArrived) return ok(`${config.baseUrl} leads to this server`)
  if (result.kind !== 'response') return warning(describe(context, result.error), FROM_ELSEWHERE)
  const { status, headers } = result
  const by = headers.server === undefined ? '' : ` of ${headers.server}`
  const location = headers.location === undefined ? '' : `, to ${headers.location}`
  return failed(
    `another server answers at ${config.baseUrl}: status ${status}${by}${location}`,
    `Point the A record of ${url.hostname} at this server, let its proxy pass requests on to http.listen, or correct base_url.`,
  )
}

/**
 * Whether a mail program can unsubscribe somebody with one POST (RFC 8058): the answer must be
 * 200, without a redirect, a log-in or a challenge. The token is of the right form and belongs to
 * nobody.
 */
export const oneClickCheck: Check = {
  id: 'one_click',
  run: async ({ config, probes, server }) => {
    const skip = skipInSandbox(config)
    if (skip !== undefined) return skip
    if (server === null) return skipped(NEEDS_SERVER)
    const arrival = server.arrivals.expect()
    const url = new URL(`${config.baseUrl}/unsubscribe/${arrival.word}`)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const result = await probes.request({ url, method: 'POST', headers, body: ONE_CLICK_BODY })
    const hasArrived = arrival.hasArrived()
    arrival.end()
    const path = `POST ${config.baseUrl}/unsubscribe/…`
    const follows = ['base_url'] as const
    if (result.kind !== 'response') {
      const fix = 'See base_url; if that is well, look at what the proxy does with POST.'
      return { ...warning(`${path}: ${result.error}`, fix), follows }
    }
    const { status, headers: answered } = result
    if (status === 200 && hasArrived) return ok(`${path}: 200`)
    const location = answered.location === undefined ? '' : `, to ${answered.location}`
    const fix =
      'Let the proxy pass POST /unsubscribe/ on to http.listen unchanged: no log-in, no redirect, no challenge, no cache.'
    return { ...failed(`${path}: status ${status}${location}`, fix), follows }
  },
}

const LEAST_SHARE = 0.2
const LABELS: Record<TlsListener, string> = {
  http: 'HTTPS',
  inbound: 'port 25',
  submission: 'submission',
}

type Seen = {
  listener: TlsListener
  certificate: X509Certificate | null
  error: string | null
  remedy?: string
}

/**
 * How long the certificates live that clients see: at port 25, of submission, and of HTTPS, where
 * the certificate of a proxy counts. Renewal is due at a third of the life, so less than a fifth
 * left means that the renewal does not work.
 */
export const certificatesCheck: Check = {
  id: 'certificates',
  run: async (context) => {
    const seen = await listSeen(context)
    if (seen.length === 0) {
      const why = context.server === null ? NEEDS_SERVER : 'no listener has a certificate'
      return skipped(why)
    }
    const parts = seen.map((one) => checkCertificate(context, one))
    return combine(parts, parts.map(({ evidence }) => evidence).join('; '))
  },
}

/**
 * Lists the certificates of all listeners, also if two have the same file: one listener may not
 * have loaded the renewed file.
 */
async function listSeen({ facts }: CheckContext): Promise<Seen[]> {
  const [inbound, own, https] = await Promise.all([
    facts.inbound(),
    facts.ownCertificates(),
    facts.baseUrlTls(),
  ])
  const isProxied = !own.some(({ listener }) => listener === 'http')
  return [
    // A listener without STARTTLS shows no certificate; `starttlsCheck` reports it.
    ...(inbound ?? []).flatMap(({ certificate }) =>
      certificate === null ? [] : [{ listener: 'inbound' as const, certificate, error: null }],
    ),
    ...own,
    // `baseUrlCheck` reports an unreachable `base_url`.
    ...(isProxied && https?.certificate
      ? [{ listener: 'http' as const, certificate: https.certificate, error: null }]
      : []),
  ]
}

function checkCertificate(
  { config, now }: Pick<CheckContext, 'config' | 'now'>,
  { listener, certificate, error, remedy }: Seen,
): CheckPart {
  const label = LABELS[listener]
  const fix = fixOf(config, listener)
  if (certificate === null)
    return failed(`${label}: ${error}`, remedy === undefined ? fix : sentence(remedy))
  const [from, to, at] = [
    certificate.validFromDate.getTime(),
    certificate.validToDate.getTime(),
    now(),
  ]
  const until = `${label}: ${namesIn(certificate)}, until ${formatSecond(to)}`
  if (at >= to) return failed(`${until}: expired`, fix)
  if (at < from) return failed(`${until}: not valid before ${formatSecond(from)}`, fix)
  // `baseUrlCheck` reports a wrong name of HTTPS.
  const names = listener === 'http' ? [] : namesOfListener(config, listener)
  const [wrongName] = findNameFaults(certificate, names)
  if (wrongName !== undefined) return warning(`${label}: the certificate ${wrongName}`, fix)
  if ((to - at) / (to - from) < LEAST_SHARE) {
    return warning(`${until}: less than a fifth of its life is left`, fix)
  }
  return ok(until)
}

function fixOf({ http, inbound, submission }: Config, listener: TlsListener): string {
  const { tls } = { http, inbound, submission }[listener]
  const named = `the certificate of ${LABELS[listener]}`
  if (tls?.isOrdered) {
    return `The server orders ${named} by ACME: GET /health and the log say why it does not come.`
  }
  if (tls === null) return `Renew ${named} at the proxy in front of this server.`
  return `Renew ${named}: ${listener}.tls_cert and ${listener}.tls_key.`
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function namesIn({ subjectAltName, subject }: X509Certificate): string {
  return (subjectAltName ?? subject).replaceAll('DNS:', '').slice(0, 100)
}

/**
 * Whether the listener for mail from outside answers with the name of this server, and takes TLS.
 */
export const starttlsCheck: Check = {
  id: 'starttls',
  run: async ({ config, facts }) => {
    if (config.inbound.listen.length === 0) return skipped('inbound.listen is empty')
    const found = await facts.inbound()
    if (found === null) return skipped(NEEDS_SERVER)
    const isMeant = config.inbound.tls !== null
    const parts = found.map((one) => checkListener(one, isMeant))
    return combine(parts, `offered at ${found.map(nameOf).join(', ')}`)
  },
}

/** `isMeant`: whether a certificate is configured, so that STARTTLS is expected. */
function checkListener(found: ListenerFindings, isMeant: boolean): CheckPart {
  const { greeting, offersStarttls, certificate, error } = found
  const at = nameOf(found)
  if (greeting === null) {
    return failed(`the listener ${at} does not answer: ${error}`, 'Look at the log of the server.')
  }
  if (greeting.code >= 400) {
    return warning(
      `${at}: ${describeProbeReply(greeting)}`,
      'Look at GET /health and the log of the server.',
    )
  }
  if (!offersStarttls) {
    const text = `${at} offers no STARTTLS, so mail to this server is sent in clear`
    if (isMeant) return failed(text, 'Look at the log of the server for the certificate.')
    return warning(text, '[inbound]\ntls_cert = "cert.pem"\ntls_key = "key.pem"')
  }
  if (certificate !== null && error === null) return ok(at)
  return failed(`${at}: STARTTLS fails: ${error}`, 'Replace the certificate of inbound.tls_cert.')
}

function nameOf({ listener }: ListenerFindings): string {
  return formatListenAddress(listener)
}
