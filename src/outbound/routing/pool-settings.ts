/** The lane of a message on its route: tasks share one unless they leave from different addresses. */

import type { Lane } from '../protocol.ts'
import type { Shaping } from '../sites/shaping.ts'
import type { BrokenTls } from './broken-tls.ts'
import type { OpenRoute } from './destination.ts'
import type { SourceAddresses, Sources } from './source-addresses.ts'

export type LaneDeps = {
  shaping: Pick<Shaping, 'requiresTls' | 'messagesPerConnection'>
  sources: Pick<Sources, 'choose'>
  brokenTls: Pick<BrokenTls, 'has'>
  receivesFor(domain: string): boolean
}

export type LaneOf = (message: { emailId: string; domain: string }) => Lane

/** What is the same of all messages of a route is found once. */
export function createLaneOf(deps: LaneDeps, route: OpenRoute): LaneOf {
  const lanes = new Map<string, Lane>()
  return ({ emailId, domain }) => {
    const source = deps.sources.choose(emailId, route.site)
    const isOurs = deps.receivesFor(domain)
    const key = keyOf(route, source, isOurs)
    const lane = lanes.get(key) ?? makeLane(deps, route, { key, source, isOurs })
    lanes.set(key, lane)
    return lane
  }
}

function keyOf({ key }: OpenRoute, { ipv4, ipv6 }: SourceAddresses, isOurs: boolean): string {
  return [key, ipv4 ?? '', ipv6 ?? '', isOurs ? 'ours' : ''].join('|')
}

function makeLane(
  { shaping, brokenTls }: LaneDeps,
  { site, mode, port, targets }: OpenRoute,
  own: Pick<Lane, 'key' | 'source' | 'isOurs'>,
): Lane {
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
