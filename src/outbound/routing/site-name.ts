/**
 * Names the site of a domain: the receiving system to which limits of connections and rate apply.
 * The name consists of the domain's MX hosts, each replaced by its provider or else by its
 * registrable domain. All domains of one provider count as one site, and a backup MX elsewhere
 * makes another site.
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

/** Names a set of hosts with preferences: destinations with the same key may share connections. */
export function destinationKeyOf(hosts: readonly { preference: number; host: string }[]): string {
  const names = hosts.map(({ preference, host }) => `${preference} ${host}`).sort()
  const text = names.join(',')
  if (text.length <= 200) return text
  return createHash('sha256').update(text).digest('hex')
}

function foldHost(host: string): string {
  return findProviderOfHost(host)?.site ?? getDomain(host, { allowPrivateDomains: true }) ?? host
}
