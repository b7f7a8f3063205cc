/**
 * The checks of `base_url`: whether it leads to this very process, and whether mail programs can
 * unsubscribe somebody there. Each request carries a word that only this process knows
 * (`arrivals.ts`), so an answer of another server is recognised even if that is another Pillarbox.
 */
import type { Check, CheckContext } from './check.ts'
import {
  type CheckOutcome,
  failed,
  NEEDS_SERVER,
  ok,
  skipInSandbox,
  skipped,
  warning,
} from './outcome.ts'

const ONE_CLICK_BODY = 'List-Unsubscribe=One-Click'

/** Faults of the dates of the certificate, which `certificatesCheck` judges. */
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
