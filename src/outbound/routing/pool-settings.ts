/** The lane of a message on its route: tasks share one unless they leave from different addresses. */

import type { PoolSettings } from '../protocol.ts'
import type { Shaping } from '../sites/shaping.ts'
import type { BrokenTls } from './broken-tls.ts'
import type { OpenDestination } from './destination.ts'
import type { SourceAddresses, SourceChooser } from './source-addresses.ts'

export type PoolDeps = {
  shaping: Pick<Shaping, 'requiresTls' | 'messagesPerConnection'>
  sources: Pick<SourceChooser, 'choose'>
  brokenTls: Pick<BrokenTls, 'has'>
  receivesFor(domain: string): boolean
}

export type PoolChooser = (message: { emailId: string; domain: string }) => PoolSettings

/** What is the same of all messages of a route is found once. */
export function createPoolChooser(deps: PoolDeps, route: OpenDestination): PoolChooser {
  const pools = new Map<string, PoolSettings>()
  return ({ emailId, domain }) => {
    const source = deps.sources.choose(emailId, route.site)
    const isOurs = deps.receivesFor(domain)
    const key = keyOf(route, source, isOurs)
    const pool = pools.get(key) ?? makePoolSettings(deps, route, { key, source, isOurs })
    pools.set(key, pool)
    return pool
  }
}

function keyOf({ key }: OpenDestination, { ipv4, ipv6 }: SourceAddresses, isOurs: boolean): string {
  return [key, ipv4 ?? '', ipv6 ?? '', isOurs ? 'ours' : ''].join('|')
}

function makePoolSettings(
  { shaping, brokenTls }: PoolDeps,
  { site, mode, port, targets }: OpenDestination,
  own: Pick<PoolSettings, 'key' | 'source' | 'isOurs'>,
): PoolSettings {
  const hosts = new Set(targets.map(({ host }) => host))
  return {
    ...own,
    site,
    mode,
    port,
    targets,
    brokenTls: [...hosts].filter(brokenTls.has),
    requiresTls: shaping.requiresTls(site),
    messagesPerConnection: shaping.messagesPerConnection(site),
  }
}
