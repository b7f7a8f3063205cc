/** The checks of TLS at the listeners: the life of their certificates, and STARTTLS at port 25. */
import type { X509Certificate } from 'node:crypto'
import { formatSecond } from '../../../base/clock.ts'
import { findNameFaults, namesOfListener } from '../../../config/certificates/faults.ts'
import type { TlsListener } from '../../../config/certificates/tls-listener.ts'
import type { Config } from '../../../config/config.ts'
import { formatListenAddress } from '../../../config/values/listen-address.ts'
import { describeProbeReply } from '../../../outbound/probe/probe-smtp.ts'
import type { Check, CheckContext } from './check.ts'
import type { ListenerFindings } from './facts.ts'
import { type CheckPart, combine, failed, NEEDS_SERVER, ok, skipped, warning } from './outcome.ts'

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
 * Looks at all listeners, also at those with the same certificate: one may not have loaded its
 * renewal.
 */
async function listSeen({ facts }: CheckContext): Promise<Seen[]> {
  const [inbound, own, https] = await Promise.all([
    facts.inbound(),
    facts.ownCertificates(),
    facts.baseUrlTls(),
  ])
  const isProxied = !own.some(({ listener }) => listener === 'http')
  return [
    // Without STARTTLS there is no certificate, and the check of STARTTLS says so.
    ...(inbound ?? []).flatMap(({ certificate }) =>
      certificate === null ? [] : [{ listener: 'inbound' as const, certificate, error: null }],
    ),
    ...own,
    // An unreachable `base_url` has a check of its own.
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
  // A wrong name of HTTPS is left to the check of `base_url`.
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

/** `isMeant`: a certificate is configured. */
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
