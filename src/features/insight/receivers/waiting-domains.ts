/** The domains to which a project's mail waits, with the state of their sites. */

import type { QueueClass } from '../../../base/queue-class.ts'
import { providerOfDomain } from '../../../formats/address/mailbox-providers.ts'
import type { SiteStatus } from '../../../outbound/sites/site-status.ts'
import type { ReceiverRecord } from '../../../records/receiver.ts'
import type { Base } from '../../ground/base.ts'
import type { Lanes } from '../../mail/messages/queue/lanes.ts'
import { countHeldOf, countLanesOf } from '../../mail/messages/queue/mail-of-project.ts'
import type { QueueLane } from '../../mail/messages/queue/notifier.ts'
import { opennessOf } from '../../mail/messages/queue/site-openness.ts'

export type WaitingDomain = {
  /** In A-labels. */
  domain: string
  /** With held mail. */
  waiting: number
  deferred: number
  /** Epoch ms; null if all mail is held. */
  oldestDueAt: number | null
  /** The classes that have deferred mail. */
  deferredClasses: readonly QueueClass[]
  state: ReceiverRecord['state']
  site: SiteStatus
}

type Deps = Pick<Base, 'store' | 'outbound' | 'directory'> & { lanes: Pick<Lanes, 'ofProject'> }

/** The lanes whose mail is counted; those of the domains of large providers come first. */
export const MAX_LANES = 5_000

export async function listWaitingDomainsOf(
  deps: Deps,
  projectId: string,
): Promise<WaitingDomain[]> {
  const held = await deps.directory.heldDomains()
  const [counts, heldCounts] = await Promise.all([
    countLanesOf(deps, projectId, chooseLanes(deps.lanes.ofProject(projectId))),
    held.size === 0 ? [] : countHeldOf(deps, projectId),
  ])
  const heldOf = new Map(heldCounts.map((row) => [row.domain, row.held]))
  const lanes = Map.groupBy(counts, ({ domain }) => domain)
  const statusOf = createSiteStatuses(deps)
  return [...new Set([...lanes.keys(), ...heldOf.keys()])].map((domain) => {
    const own = lanes.get(domain) ?? []
    const site = statusOf(domain)
    return {
      domain,
      waiting: own.reduce((sum, lane) => sum + lane.waiting, heldOf.get(domain) ?? 0),
      deferred: own.reduce((sum, lane) => sum + lane.deferred, 0),
      oldestDueAt: own.length === 0 ? null : Math.min(...own.map((lane) => lane.oldestDueAt)),
      deferredClasses: own.filter((lane) => lane.deferred > 0).map((lane) => lane.queueClass),
      state: held.has(domain) || heldOf.has(domain) ? 'held' : opennessOf(site),
      site,
    }
  })
}

/** A campaign may have a hundred thousand lanes of an email or two. */
export function chooseLanes(lanes: Iterable<QueueLane>): QueueLane[] {
  const large: QueueLane[] = []
  const others: QueueLane[] = []
  for (const lane of lanes) {
    if (providerOfDomain(lane.domain) !== undefined) large.push(lane)
    else if (others.length < MAX_LANES) others.push(lane)
  }
  return [...large, ...others].slice(0, MAX_LANES)
}

/** Returns a function that looks at each site once. */
function createSiteStatuses({ outbound }: Deps): (domain: string) => SiteStatus {
  const statuses = new Map<string, SiteStatus>()
  return (domain) => {
    const site = outbound.siteOf(domain)
    const status = statuses.get(site) ?? outbound.siteStatus(site)
    statuses.set(site, status)
    return status
  }
}
