/** Whether the listener for mail from outside answers with the name of this server, and takes TLS. */
import { formatListenAddress } from '../../../config/values/listen-address.ts'
import { describeReply } from '../../../outbound/probe/probe-smtp.ts'
import type { Check } from './check.ts'
import type { ListenerFindings } from './facts.ts'
import { failed, NEEDS_SERVER, ok, skipped, warning } from './outcome.ts'
import { combine, type Part } from './parts.ts'

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
function checkListener(found: ListenerFindings, isMeant: boolean): Part {
  const { greeting, offersStarttls, certificate, error } = found
  const at = nameOf(found)
  if (greeting === null) {
    return failed(`the listener ${at} does not answer: ${error}`, 'Look at the log of the server.')
  }
  if (greeting.code >= 400) {
    return warning(
      `${at}: ${describeReply(greeting)}`,
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
