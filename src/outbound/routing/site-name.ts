/**
 * The name of a destination site: what shares one budget of connections, rate and patience. It is
 * made from the names of a domain's MX hosts, each folded to its provider, else to its registrable
 * domain, so that all domains of one provider count together and a backup MX elsewhere tells apart.
 */
import { createHash } from 'node:crypto'
import { getDomain } from 'tldts'
import { findProviderOfHost } from './providers.ts'

const MAX_NAMES = 4
const DIGEST_CHARACTERS = 12

/** `hosts`: at least one, lower case, A-labels, in any order. */
export function siteOfHosts(hosts: readonly string[]): string {
  const names = [...new Set(hosts.map(foldHost))].sort()
  if (names.length <= MAX_NAMES) return names.join(',')
  const digest = createHash('sha256').update(names.join(',')).digest('hex')
  return `${names.slice(0, MAX_NAMES).join(',')},${digest.slice(0, DIGEST_CHARACTERS)}`
}

/** Which open connections may be shared: those to the same hosts at the same preferences. */
export function destinationKeyOf(hosts: readonly { preference: number; host: string }[]): string {
  const names = hosts.map(({ preference, host }) => `${preference} ${host}`).sort()
  const text = names.join(',')
  if (text.length <= 200) return text
  return createHash('sha256').update(text).digest('hex')
}

function foldHost(host: string): string {
  return findProviderOfHost(host)?.site ?? getDomain(host, { allowPrivateDomains: true }) ?? host
}
