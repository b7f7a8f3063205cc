/**
 * The gauges of mail on its way: by state and by site, the age of the oldest email, and the work of
 * the delivery threads.
 */
import { QUEUE_CLASS_NAMES, QUEUE_CLASSES, type QueueClass } from '../../../base/queue-class.ts'
import { isProviderHost } from '../../../formats/address/mailbox-providers.ts'
import { findProvider } from '../../../outbound/routing/providers.ts'
import type { Base } from '../../ground/base.ts'
import {
  countParked,
  countWaitingByDomain,
  type ParkedCounts,
} from '../../mail/messages/queue/waiting-mail.ts'
import type { HitWriter } from '../../mail/tracking/hit-writer.ts'
import { byState, createRecent, type Gauge, type GaugeValue, type RecentOptions } from './gauge.ts'

const OTHER_SITE = 'other'

type CountDeps = Pick<Base, 'store' | 'outbound' | 'now'>
export type QueueGaugeDeps = CountDeps & { hits: HitWriter }

type QueueCounts = {
  states: { queued: number; deferred: number } & ParkedCounts
  /** The number of waiting emails by the label of their site. */
  sites: Map<string, number>
  /** When the oldest due email of a class became due. */
  oldest: Map<QueueClass, number>
}

const MAX_SITES = 20

export function queueGauges(deps: QueueGaugeDeps, options?: RecentOptions): Gauge[] {
  const recent = createRecent(() => countQueue(deps), options)
  return [
    {
      name: 'pillarbox_queue_emails',
      help: 'Emails on their way, by state',
      labelNames: ['state'],
      read: async () => byState((await recent())?.states ?? {}),
    },
    {
      name: 'pillarbox_queue_site_emails',
      help: 'Emails that wait for an attempt, by site: the 20 busiest of the large providers, and all others together',
      labelNames: ['site'],
      read: async () => busiest((await recent())?.sites ?? new Map()),
    },
    {
      name: 'pillarbox_queue_oldest_due_seconds',
      help: 'Seconds that the oldest due email of a class has waited to be tried; 0 when none is due. Emails to destinations in back-off do not count',
      labelNames: ['class'],
      read: async () => {
        const counts = await recent()
        return counts === undefined ? [] : oldestAges(counts.oldest, deps.now())
      },
    },
    ...deliveryGauges(deps),
    ...hitGauges(deps),
  ]
}

async function countQueue(deps: CountDeps): Promise<QueueCounts> {
  const { store, outbound, now } = deps
  const at = now()
  const sites = new Map<string, number>()
  const oldest = new Map<QueueClass, number>()
  const waiting = { queued: 0, deferred: 0 }
  await countWaitingByDomain(deps, ({ queueClass, domain, queued, deferred, dueAt }) => {
    waiting.queued += queued
    waiting.deferred += deferred
    const site = outbound.siteOf(domain)
    const label = siteLabel(site)
    sites.set(label, (sites.get(label) ?? 0) + queued + deferred)
    if (dueAt >= (oldest.get(queueClass) ?? at) || outbound.restrictionOf(site) !== null) return
    oldest.set(queueClass, dueAt)
  })
  const [parked] = await store.scan.list(countParked)
  return {
    states: { ...waiting, ...(parked ?? { sending: 0, held: 0, paused: 0 }) },
    sites,
    oldest,
  }
}

/** Returns the sites with the most mail; the mail of all others is added to `other`. */
function busiest(sites: ReadonlyMap<string, number>): GaugeValue[] {
  const named = [...sites].filter(([site]) => site !== OTHER_SITE).sort(([, a], [, b]) => b - a)
  const left = named.slice(MAX_SITES).reduce((sum, [, count]) => sum + count, 0)
  const other = (sites.get(OTHER_SITE) ?? 0) + left
  return [...named.slice(0, MAX_SITES), [OTHER_SITE, other] as const].map(([site, value]) => ({
    value,
    labels: { site },
  }))
}

function oldestAges(oldest: ReadonlyMap<QueueClass, number>, at: number): GaugeValue[] {
  return QUEUE_CLASSES.map((queueClass) => ({
    value: Math.max(0, at - (oldest.get(queueClass) ?? at)) / 1_000,
    labels: { class: QUEUE_CLASS_NAMES[queueClass] },
  }))
}

function deliveryGauges({ outbound }: Pick<Base, 'outbound'>): Gauge[] {
  return [
    {
      name: 'pillarbox_deliveries_in_flight',
      help: 'Emails that the delivery threads are sending',
      read: () => [{ value: outbound.inFlight() }],
    },
    {
      name: 'pillarbox_sites_in_backoff',
      help: 'Destinations in back-off: nothing is sent (blocked), or less than usual (slowed)',
      labelNames: ['state'],
      read: () => {
        const sites = outbound.sites()
        const blocked = sites.filter(({ blockedUntil }) => blockedUntil !== null).length
        const restricted = sites.filter(({ restrictedSince }) => restrictedSince !== null).length
        return byState({ blocked, slowed: Math.max(0, restricted - blocked) })
      },
    },
  ]
}

function hitGauges({ hits }: Pick<QueueGaugeDeps, 'hits'>): Gauge[] {
  return [
    {
      name: 'pillarbox_tracking_hits_waiting',
      help: 'Opens and clicks that wait to be written',
      read: () => [{ value: hits.counts().waiting }],
    },
    {
      name: 'pillarbox_tracking_hits_lost_total',
      help: 'Opens and clicks that were lost',
      type: 'counter',
      read: () => [{ value: hits.counts().lost }],
    },
  ]
}

/**
 * The label of a site in `/metrics`. Only sites that receive mail for many domains have a label of
 * their own: the names in two fixed lists of the program. A site may also be named after the
 * recipient's own domain, which no label may show, so every other site is `other`. `site`: as
 * `outbound.siteOf` names the site, or a domain whose site is not known.
 */
function siteLabel(site: string): string {
  return findProvider(site) !== undefined || isProviderHost(site) ? site : OTHER_SITE
}
