/**
 * A check that DNS gave no answer to: its records may be right, so that none is offered to paste. The fault is at
 * the DNS server that this server asks, or at those of the one name.
 */
import type { Config } from '../../../config/config.ts'
import { type Outcome, warning } from './outcome.ts'

export function noAnswer(config: Pick<Config, 'dns'>, evidence: string): Outcome {
  return warning(evidence, fixOfNoAnswer(config))
}

export function fixOfNoAnswer({ dns }: Pick<Config, 'dns'>): string {
  const { servers } = dns
  const asked =
    servers.length === 0
      ? 'the DNS server of /etc/resolv.conf does not answer: repair that file, or set dns.servers'
      : `the DNS server ${servers.join(' or ')} does not answer: change dns.servers`
  return `If other names get no answer either, ${asked}. Otherwise the DNS servers of this name do not answer.`
}
