/**
 * Claims emails of many lanes. A plan says from which lanes, and how many emails at most from each.
 * For each of these limits, one statement leases the due emails of its lanes. One more statement
 * finds when each lane is due next. A claim returns all columns that the delivery needs, so that
 * the row is not read again.
 */

import type { QueueClass } from '../../../../base/queue-class.ts'
import type { RowOf } from '../../../../store/database.ts'
import {
  addressDigest,
  eachOf,
  jsonItem,
  jsonListOf,
  orderedJoin,
  rowNumber,
  unseen,
} from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { isOwnWish } from '../../../people/wishes/wishes.ts'
import { sourceColumns } from '../delivery/source.ts'
import type { DueLane, Lanes } from './lanes.ts'
import type { QueueLane } from './notifier.ts'
import { retryDelay } from './retry-delay.sqlite.ts'
import type { Throttle } from './throttle.ts'

/** The time for which a claim leases an email; the queue renews the leases of emails in flight. */
export const LEASE_MS = 30_000

/** A claimed email, with the facts that decide whether it may still be sent. */
export type ClaimedEmail = RowOf<typeof claimLanes>

/** The digest of the recipient's address; links and the return path carry it. */
const digest = addressDigest(sql`emails.project_id`, sql`emails.recipient`)

/** Whether the recipient of an email may get mail. For transactional mail, no wish is looked up. */
export const recipientColumns = {
  isSubscribed: sql<boolean>`(select subscribed from contacts
    where contacts.id = emails.contact_id)`.mapWith(Boolean),
  isSuppressed: sql<boolean>`exists (select 1 from suppressions
    where suppressions.project_id = emails.project_id
    and suppressions.email = emails.recipient
    and not (emails.ignores_complaint and suppressions.reason = 'COMPLAINT'))`.mapWith(Boolean),
  hasLeft: sql<boolean>`(emails.content_class <> 'TRANSACTIONAL' and exists (select 1 from wishes
    where wishes.digest = ${digest} and ${isOwnWish}))`.mapWith(Boolean),
}

/** Leases due emails: of each lane at most `limit`, the earliest first. `lanes`: as `toItem` makes them. */
export const claimLanes = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'sending',
      status: 'SENDING',
      dueAt: null,
      retryAt: sql`${parameter('now')} + ${retryDelay(parameter('delays'), emails.failureCount)}`,
      leaseUntil: parameter('leaseUntil'),
      attemptCount: sql`${emails.attemptCount} + 1`,
      updatedAt: parameter('now'),
    })
    .where(sql`${rowNumber()} in (${dueOfLanes()})`)
    .returning({
      ...sourceColumns,
      sealedVariables: emails.sealedVariables,
      recipientDomain: emails.recipientDomain,
      queueClass: emails.queueClass,
      giveUpAt: emails.giveUpAt,
      failureCount: emails.failureCount,
      attemptCount: emails.attemptCount,
      digest: sql<Buffer>`${digest}`,
      ...recipientColumns,
    }),
)

/** When the earliest email of each lane is due; null for an empty lane. */
export const listNextDue = statement<{ position: number; dueAt: number | null }>(
  () => sql`select ${item(3)} as position,
      (select min(due_at) from emails where ${isOfLane()}) as "dueAt"
    from ${eachOf(parameter('lanes'))} as lane`,
)

type Deps = Pick<Base, 'config' | 'now'> & { throttle: Throttle; lanes: Pick<Lanes, 'setDueAt'> }

type PlannedClaim = DueLane & { limit: number }

/** `considered`: the due lanes that the plan looked at before the transaction was full. */
type ClaimPlan = { claims: readonly PlannedClaim[]; considered: readonly DueLane[] }

/**
 * The maximum per transaction: of emails (`BATCH`), of emails of a lane with and without a known
 * backlog, and of lanes. A lane without a known backlog mostly has few emails: a plan for more
 * would leave less room for other lanes.
 */
const BATCH = 400

const BACKLOG_BATCH = 100

const LANE_BATCH = 20

const MAX_LANES = 100

type PlanDeps = Pick<Base, 'outbound'> & { throttle: Throttle }

/** A due lane with its site. `position`: its position among the due lanes. */
type SitedLane = DueLane & { site: string; position: number }

/** Claims what is planned, and records when the lanes are due next. */
export async function claimFromLanes(
  { config, now, throttle, lanes }: Deps,
  tx: Tx,
  claims: readonly PlannedClaim[],
): Promise<ClaimedEmail[]> {
  const at = now()
  const claimed: ClaimedEmail[] = []
  for (const [limit, some] of Map.groupBy(claims, (claim) => claim.limit)) {
    const rows = await tx.list(claimLanes, {
      ...{ limit, now: at, leaseUntil: at + LEASE_MS },
      lanes: JSON.stringify(some.map(toItem)),
      delays: JSON.stringify(config.delivery.retrySchedule),
    })
    claimed.push(...rows)
  }
  const next = await tx.list(listNextDue, { lanes: JSON.stringify(claims.map(toItem)) })
  tx.afterCommit(() => {
    if (throttle.emailsPerSecond !== null) spend(throttle, claimed)
    for (const { position, dueAt } of next) {
      const lane = claims[position]?.lane
      if (lane !== undefined && (dueAt === null || dueAt > at)) lanes.setDueAt(lane, dueAt)
    }
  })
  return claimed
}

/**
 * Plans how many emails to claim from which due lanes. The capacity of a site is shared among the
 * projects that have mail for the site, class by class, and the share of a project among its lanes.
 * No project takes the capacity of the whole server. While no connection is free, mail for
 * sites without a connection is claimed for only a few of these sites: such mail has to wait, and
 * would take the places of mail that can be sent at once.
 * The transaction must stay short, so the plan names a limited number of lanes: each costs a seek
 * to its due mail and one to the mail that is due next. `due`: the most urgent first.
 */
export function planClaims(deps: PlanDeps, due: readonly DueLane[]): ClaimPlan {
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

function spend(throttle: Throttle, claimed: readonly ClaimedEmail[]): void {
  for (const [projectId, { length }] of Map.groupBy(claimed, (email) => email.projectId)) {
    throttle.spend(projectId, length)
  }
}

function toItem({ lane }: PlannedClaim, position: number) {
  return [lane.queueClass, lane.domain, lane.projectId, position]
}

/**
 * Returns the row numbers of the due emails of all lanes. SQLite looks into the index once for each
 * lane.
 */
function dueOfLanes() {
  const due = sql`(select ${jsonListOf(sql`number`)} from (select ${rowNumber()} as number from emails
    where ${isOfLane()} and due_at <= ${unseen(parameter('now'))}
    order by due_at limit ${unseen(parameter('limit'))}))`
  return sql`select due.value from ${eachOf(parameter('lanes'))} as lane
    ${orderedJoin()} ${eachOf(due)} as due`
}

function isOfLane() {
  return sql`due_at is not null and queue_class = ${item(0)} and recipient_domain = ${item(1)}
    and project_id = ${item(2)}`
}

function item(index: number) {
  return jsonItem(sql`lane.value`, index)
}

/** Limits the sites for which mail is claimed although no connection is free for them. */
function createBeginnings({ outbound }: PlanDeps) {
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

/** Returns the capacity of sites and projects, less the claims planned so far. */
function createCapacity({ outbound, throttle }: PlanDeps) {
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
 * Counts the lanes of each site and class, by project. `take` takes a lane off the count, and
 * returns into how many equal shares the capacity of the site is divided, of which the lane gets
 * one: the number of projects that are left, times the number of lanes that are left of the lane's
 * project.
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
