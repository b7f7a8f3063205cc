/**
 * What only the running server knows of mail on its way: how its destinations stand, whether its
 * project is at its rate, how far a delivery has come. Nothing of it is on disk.
 */
import type { DeliveryProgress, SiteStatus } from '../../outbound/site-status.ts'
import type { Core } from '../core.ts'
import type { ThrottleStatus } from './throttle.ts'

export type LiveQuestion = {
  /** Recipient domains, A-labels. */
  domains: readonly string[]
  projectIds: readonly string[]
  /** Of mail that is being sent. */
  emailIds: readonly string[]
}

export type LiveSite = {
  site: string
  /** Null while nothing is known of it. */
  status: SiteStatus | null
  /** Whether an email of that class may go there now. */
  hasRoom: { [queueClass: number]: boolean }
}

/** By domain, project and email; a JSON value. */
export type LiveAnswer = {
  sites: Record<string, LiveSite>
  throttles: Record<string, ThrottleStatus>
  progress: Record<string, DeliveryProgress>
}

export type LiveDeps = Pick<Core, 'outbound' | 'throttle'>

export async function describeLive(deps: LiveDeps, question: LiveQuestion): Promise<LiveAnswer> {
  const { outbound, throttle } = deps
  const statuses = new Map(outbound.sites().map((status) => [status.site, status]))
  const sites = question.domains.map((domain) => {
    const site = outbound.siteOf(domain)
    const mayTake = (queueClass: 1 | 5 | 10) => outbound.capacity(site, queueClass) > 0
    const hasRoom = { 1: mayTake(1), 5: mayTake(5), 10: mayTake(10) }
    return [domain, { site, status: statuses.get(site) ?? null, hasRoom }] as const
  })
  const throttles = question.projectIds.map((id) => [id, throttle.status(id)] as const)
  const progress = question.emailIds.map(async (id) => [id, await outbound.progressOf(id)] as const)
  const known = (await Promise.all(progress)).flatMap(([id, found]) =>
    found === undefined ? [] : [[id, found] as const],
  )
  return {
    sites: Object.fromEntries(sites),
    throttles: Object.fromEntries(throttles),
    progress: Object.fromEntries(known),
  }
}
