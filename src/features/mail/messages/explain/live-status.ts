/**
 * The facts about mail that only the running server has: the status of sites, the rate limits of
 * projects, the progress of deliveries. They are in memory only.
 */

import { QUEUE_CLASSES, type QueueClass } from '../../../../base/queue-class.ts'
import type { DeliveryProgress, SiteStatus } from '../../../../outbound/sites/site-status.ts'
import type { Base } from '../../../ground/base.ts'
import type { Throttle, ThrottleStatus } from '../queue/throttle.ts'

export type LiveStatusQuery = {
  /** Recipient domains (A-labels). */
  domains: readonly string[]
  projectIds: readonly string[]
  /** Emails in flight. */
  emailIds: readonly string[]
}

export type LiveSite = {
  site: string
  /** Null if the server keeps no facts about the site, as when no mail went there lately. */
  status: SiteStatus | null
  /**
   * By class, whether the site can take an email now. A server of an older version omits this
   * property.
   */
  hasCapacity: { [queueClass: number]: boolean }
  /**
   * The projects for whose mail to the site no connection is free. A server of an older version
   * omits this property.
   */
  lackedBy?: readonly string[]
}

type LiveProject = ThrottleStatus & {
  /** By class, whether the project's share of the server allows another email. */
  hasCapacity: { [queueClass: number]: boolean }
}

/** The sites by recipient domain, projects by id, and progress by email id; a JSON value. */
export type LiveStatus = {
  sites: Record<string, LiveSite>
  projects: Record<string, LiveProject>
  progress: Record<string, DeliveryProgress>
}

export type LiveDeps = Pick<Base, 'outbound'> & { throttle: Throttle }

export async function findLiveStatus(deps: LiveDeps, query: LiveStatusQuery): Promise<LiveStatus> {
  const { outbound, throttle } = deps
  const statuses = new Map(outbound.sites().map((status) => [status.site, status]))
  const sites = query.domains.map((domain) => {
    const site = outbound.siteOf(domain)
    const hasCapacity = byClass((queueClass) => outbound.capacity(site, queueClass) > 0)
    const lackedBy = query.projectIds.filter((id) => outbound.lacksConnection(site, id))
    return [domain, { site, status: statuses.get(site) ?? null, hasCapacity, lackedBy }] as const
  })
  const projects = query.projectIds.map((id) => {
    const hasCapacity = byClass((queueClass) => outbound.projectCapacity(id, queueClass) > 0)
    return [id, { ...throttle.status(id), hasCapacity }] as const
  })
  const progress = query.emailIds.map(async (id) => [id, await outbound.progressOf(id)] as const)
  const known = (await Promise.all(progress)).flatMap(([id, found]) =>
    found === undefined ? [] : [[id, found] as const],
  )
  return {
    sites: Object.fromEntries(sites),
    projects: Object.fromEntries(projects),
    progress: Object.fromEntries(known),
  }
}

function byClass(mayTake: (queueClass: QueueClass) => boolean) {
  return Object.fromEntries(QUEUE_CLASSES.map((each) => [each, mayTake(each)]))
}
