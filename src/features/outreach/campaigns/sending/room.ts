/**
 * `campaigns.rows_ahead`: how many more emails of a project's campaigns may be made before the queue
 * has worked off some. Emails count if their site could take mail now; the others, whose site is full,
 * resting, restricted or held, are made up to ten times as many. A count is at most about a second old, and
 * what was made since is added.
 */
import { CAMPAIGN_CLASS } from '../../../../base/queue-class.ts'
import { indexedBy, orderedJoin } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

export type RoomDeps = Pick<Base, 'store' | 'config' | 'outbound' | 'now'>

export type Room = {
  /** How many emails the campaigns of a project may make now. */
  free(projectId: string): Promise<number>
  /** How many emails of the project's campaigns are due, as of the last `free`; 0 without a bound. */
  due(projectId: string): number
  /** Emails were made. */
  took(projectId: string, count: number): void
}

type Ahead = { ready: number; all: number; due: number }
const NONE: Ahead = { ready: 0, all: 0, due: 0 }

const COUNT_EVERY_MS = 1_000
/** The bound of all waiting emails, in bounds of those that could go. */
const ALL_BOUNDS = 10

const countLanes = statement<{ domain: string; projectId: string; emails: number; due: number }>(
  () => sql`select recipient_domain as domain, project_id as "projectId", count(*) as emails,
      count(*) filter (where due_at <= ${parameter('now')}) as due
    from emails ${indexedBy('emails_ready')}
    where due_at is not null and queue_class = ${sql.raw(String(CAMPAIGN_CLASS))}
    group by recipient_domain, project_id`,
)

/** Emails of held domains have no due time. An ended campaign has none. */
const countHeld = statement<{ projectId: string; emails: number }>(
  () => sql`select campaigns.project_id as "projectId", count(*) as emails
    from campaigns ${orderedJoin()} emails ${indexedBy('emails_campaign_shelf')}
      on emails.campaign_id = campaigns.id and emails.${onShelves('held')}
    where campaigns.status in ('SCHEDULED', 'SENDING') and campaigns.status = 'SENDING'
    group by campaigns.project_id`,
)

export function createRoom(deps: RoomDeps, clock: () => number = () => performance.now()): Room {
  const { rowsAhead } = deps.config.campaigns
  let counted = new Map<string, Ahead>()
  let countedAt = Number.NEGATIVE_INFINITY

  async function free(projectId: string): Promise<number> {
    if (rowsAhead === 0) return Number.POSITIVE_INFINITY
    if (clock() - countedAt >= COUNT_EVERY_MS) {
      counted = await countAhead(deps)
      countedAt = clock()
    }
    const { ready, all } = counted.get(projectId) ?? NONE
    return Math.max(0, Math.min(rowsAhead - ready, ALL_BOUNDS * rowsAhead - all))
  }

  function took(projectId: string, count: number): void {
    if (rowsAhead === 0) return
    const { ready, all, due } = counted.get(projectId) ?? NONE
    counted.set(projectId, { ready: ready + count, all: all + count, due: due + count })
  }

  return { free, due: (projectId) => counted.get(projectId)?.due ?? 0, took }
}

async function countAhead({ store, outbound, now }: RoomDeps): Promise<Map<string, Ahead>> {
  const counted = new Map<string, Ahead>()
  for (const lane of await store.scan.list(countLanes, { now: now() })) {
    const { domain, projectId, emails } = lane
    const { ready, all, due } = counted.get(projectId) ?? NONE
    const more = canTakeMail(outbound, outbound.siteOf(domain)) ? emails : 0
    counted.set(projectId, { ready: ready + more, all: all + emails, due: due + lane.due })
  }
  for (const { projectId, emails } of await store.scan.list(countHeld)) {
    const ahead = counted.get(projectId) ?? NONE
    counted.set(projectId, { ...ahead, all: ahead.all + emails })
  }
  return counted
}

function canTakeMail(outbound: Base['outbound'], site: string): boolean {
  if (outbound.pauseOf(site) !== null || outbound.restrictionOf(site) !== null) return false
  return outbound.capacity(site, CAMPAIGN_CLASS) > 0
}
