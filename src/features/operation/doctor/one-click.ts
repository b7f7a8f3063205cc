/**
 * Whether a mail program can unsubscribe somebody with one POST (RFC 8058): it must be answered with 200,
 * without a redirect, a log-in or a challenge. The token is of the right form and belongs to nobody.
 */
import type { Check } from './check.ts'
import { failed, NEEDS_SERVER, ok, skipped, warning } from './outcome.ts'
import { skipInSandbox } from './skip-mode.ts'

const BODY = 'List-Unsubscribe=One-Click'

export const oneClickCheck: Check = {
  id: 'one_click',
  run: async ({ config, probes, server }) => {
    const skip = skipInSandbox(config)
    if (skip !== undefined) return skip
    if (server === null) return skipped(NEEDS_SERVER)
    const arrival = server.arrivals.expect()
    const url = new URL(`${config.baseUrl}/unsubscribe/${arrival.word}`)
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const result = await probes.request({ url, method: 'POST', headers, body: BODY })
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
