/**
 * Plans how many emails to claim from which due lanes. The capacity of a site is shared among the
 * projects that have mail for it, class by class, and the share of a project among its lanes. No project
 * takes the capacity of the whole server. While no connection is free, few sites are begun that have
 * none: their mail would take the places of mail that can go. The transaction must stay short, so it
 * claims from a limited number of lanes: each costs a seek to its due mail and one to what is due next.
 */
import type { QueueClass } from '../../../../base/queue-class.ts'
import type { Base } from '../../../ground/base.ts'
import type { DueLane } from './lanes.ts'
import type { QueueLane } from './notifier.ts'
import type { Throttle } from './throttle.ts'

export type PlannedClaim = DueLane & { limit: number }

/** `considered`: the lanes before the transaction was full. */
type Plan = { claims: readonly PlannedClaim[]; considered: readonly DueLane[] }

/**
 * The maximum per transaction: of emails, of emails of one lane, and of lanes. A lane without a known
 * backlog has few emails as a rule; if it had more planned, fewer lanes would fit.
 */
const BATCH = 400
const BACKLOG_BATCH = 100
const LANE_BATCH = 20
const MAX_LANES = 100

type Deps = Pick<Base, 'outbound'> & { throttle: Throttle }
/** `position`: among the due lanes. */
type SitedLane = DueLane & { site: string; position: number }

/** `due`: the most urgent first. */
export function planClaims(deps: Deps, due: readonly DueLane[]): Plan {
  const capacity = createCapacity(deps)
  const beginnings = createBeginnings(deps)
  const sited: SitedLane[] = due.flatMap((one, position) =>
    capacity.ofProject(one.lane) > 0
      ? { ...one, site: deps.outbound.siteOf(one.lane.domain), position }
      : [],
  )
  const left = countLanes(sited)
  const claims: PlannedClaim[] = []
  let total = 0
  for (const one of sited) {
    const { lane, site, hasBacklog, position } = one
    const isFull = total === BATCH || claims.length === MAX_LANES
    if (isFull) return { claims, considered: due.slice(0, position) }
    const share = Math.ceil(capacity.ofSite(site, lane.queueClass) / left.take(one))
    const batch = hasBacklog ? BACKLOG_BATCH : LANE_BATCH
    const limit = Math.min(share, capacity.ofProject(lane), batch, BATCH - total)
    if (limit < 1 || !beginnings.take(one)) continue
    claims.push({ lane, hasBacklog, limit })
    capacity.spend(one, limit)
    total += limit
  }
  return { claims, considered: due }
}

/** The sites for which no connection is free, and which may be begun nevertheless. */
function createBeginnings({ outbound }: Deps) {
  const begun = new Set<string>()
  const left = new Map<string, number>()
  return {
    /** Whether emails may be claimed for the site; counts the site if it must wait for a connection. */
    take({ lane, site }: SitedLane): boolean {
      if (begun.has(site) || !outbound.lacksConnection(site, lane.projectId)) return true
      const owner = `${lane.queueClass} ${lane.projectId}`
      const count = left.get(owner) ?? outbound.starvedCapacity(lane)
      left.set(owner, count - 1)
      if (count < 1) return false
      begun.add(site)
      return true
    },
  }
}

/** The capacity of sites and projects, less the claims planned so far. */
function createCapacity({ outbound, throttle }: Deps) {
  const ofSites = new Map<string, number>()
  const ofProjects = new Map<string, number>()
  return {
    ofSite: (site: string, queueClass: QueueClass) =>
      outbound.capacity(site, queueClass) - (ofSites.get(site) ?? 0),
    ofProject({ projectId, queueClass }: QueueLane): number {
      const share = outbound.projectCapacity(projectId, queueClass)
      const isLimited = throttle.emailsPerSecond !== null
      const allowed = isLimited ? Math.min(share, throttle.allowance(projectId)) : share
      return allowed - (ofProjects.get(projectId) ?? 0)
    },
    spend({ lane: { projectId }, site }: SitedLane, count: number): void {
      ofSites.set(site, (ofSites.get(site) ?? 0) + count)
      ofProjects.set(projectId, (ofProjects.get(projectId) ?? 0) + count)
    },
  }
}

/**
 * Counts the lanes of each site and class, by project. `take` counts a lane down; it returns the number of
 * equal shares of which the lane gets one: one for each project that is left, of these one for each
 * lane of the lane's project.
 */
function countLanes(sited: readonly SitedLane[]) {
  const counts = new Map<string, Map<string, number>>()
  const countsOf = ({ lane: { queueClass }, site }: SitedLane) => {
    const key = `${queueClass} ${site}`
    const ofSite = counts.get(key) ?? new Map<string, number>()
    counts.set(key, ofSite)
    return ofSite
  }
  for (const one of sited) add(countsOf(one), one.lane.projectId, 1)
  return {
    take(one: SitedLane): number {
      const { lane } = one
      const ofSite = countsOf(one)
      const shares = ofSite.size * (ofSite.get(lane.projectId) ?? 1)
      add(ofSite, lane.projectId, -1)
      return shares
    },
  }
}

function add(counts: Map<string, number>, projectId: string, change: 1 | -1): void {
  const count = (counts.get(projectId) ?? 0) + change
  if (count > 0) counts.set(projectId, count)
  else counts.delete(projectId)
}
