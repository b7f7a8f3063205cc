/**
 * How long the certificates live that clients see: at port 25, of submission, and of HTTPS, where the
 * certificate of a proxy counts. Renewal is due at a third of the life, so less than a fifth left
 * means that it does not work.
 */
import type { X509Certificate } from 'node:crypto'
import { formatSecond } from '../../../base/clock.ts'
import { findNameFaults, namesOfListener } from '../../../config/certificates/faults.ts'
import type { TlsListener } from '../../../config/certificates/tls-listener.ts'
import type { Config } from '../../../config/config.ts'
import type { Check, CheckContext } from './check.ts'
import { failed, NEEDS_SERVER, ok, skipped, warning } from './outcome.ts'
import { combine, type Part } from './parts.ts'

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

/** Of listeners with the same certificate, each is seen: one may not have loaded its renewal. */
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
    // What `base_url` cannot reach has a check of its own.
    ...(isProxied && https?.certificate
      ? [{ listener: 'http' as const, certificate: https.certificate, error: null }]
      : []),
  ]
}

function checkCertificate(
  { config, now }: Pick<CheckContext, 'config' | 'now'>,
  { listener, certificate, error, remedy }: Seen,
): Part {
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
  // A wrong name of HTTPS is the business of `base_url`.
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
