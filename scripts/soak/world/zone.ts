/** The DNS of a run. */
import type { DnsZone } from '../../../test/fakes/dns-server.ts'
import { SITES } from '../plan/sites.ts'

export function makeZone(): DnsZone {
  return Object.fromEntries(
    SITES.flatMap(({ domain, host }) => [
      [domain, { MX: [[10, `mx.${domain}`]], ttl: 5 }],
      [`mx.${domain}`, { A: [host], ttl: 5 }],
    ]),
  ) as DnsZone
}
