/**
 * Decides how many emails of a campaign may be made now, by the pace of the campaign and by the
 * room in the queue.
 *
 * `maxPerHour`: each email has its slot, the time at which it is due. Slots are given at most a
 * minute ahead, so that a higher `maxPerHour` takes effect soon. After a standstill the slots begin
 * now: missed slots are not made up for. After `maxPerHour` was lowered, and after a pause, the
 * emails that were not tried yet are put aside (`settle-stopped.ts`) and get new slots.
 *
 * `campaigns.rows_ahead`: how many more emails of a project's campaigns may be made before the
 * queue has worked off some. Emails count if their site could take mail now; the others, whose site
 * is full, resting, restricted or held, are made up to ten times as many. A count is at most about
 * a second old; emails that were made since are added.
 */
import { HOUR_MS, MINUTE_MS } from '../../../../base/clock.ts'
import { CAMPAIGN_CLASS } from '../../../../base/queue-class.ts'
import { indexedBy, orderedJoin } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { type CampaignProgress, campaignProgress } from '../../../../store/schema/campaigns.ts'
import { onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { notifyReleased } from '../../../mail/messages/queue/aside.ts'
import type { QueueNotifier } from '../../../mail/messages/queue/notifier.ts'
import { findUntried, releaseUntried } from '../waiting-rows.ts'
import { type ActiveCampaign, findSendingCampaign } from './active.ts'

type Paced = Pick<ActiveCampaign, 'maxPerHour' | 'pacedAt'>

const AHEAD_MS = MINUTE_MS

type ReleaseDeps = Pick<Base, 'store' | 'now'> & { queueNotifier: QueueNotifier }

/** Emails that one transaction releases. */
const BATCH = 200

export type RoomDeps = Pick<Base, 'store' | 'config' | 'outbound' | 'now'>

export type QueueRoom = {
  /** How many emails the campaigns of a project may make now. */
  free(projectId: string): Promise<number>
  /** How many emails of the project's campaigns are due, as of the last `free`; 0 without a bound. */
  due(projectId: string): number
  /** Counts emails that were made. */
  took(projectId: string, count: number): void
}

type EmailsAhead = { ready: number; all: number; due: number }

const NO_EMAILS_AHEAD: EmailsAhead = { ready: 0, all: 0, due: 0 }

const COUNT_EVERY_MS = 1_000

/**
 * The bound on all waiting emails, as a multiple of the bound on those whose site could take mail
 * now.
 */
const ALL_BOUNDS = 10

const countLanes = statement<{ domain: string; projectId: string; emails: number; due: number }>(
  () => sql`select recipient_domain as domain, project_id as "projectId", count(*) as emails,
      count(*) filter (where due_at <= ${parameter('now')}) as due
    from emails ${indexedBy('emails_ready')}
    where due_at is not null and queue_class = ${sql.raw(String(CAMPAIGN_CLASS))}
    group by recipient_domain, project_id`,
)

/**
 * Counts the emails of held domains by project: they have no due time, so `countLanes` misses them.
 * An ended campaign has no such emails.
 */
const countHeld = statement<{ projectId: string; emails: number }>(
  () => sql`select campaigns.project_id as "projectId", count(*) as emails
    from campaigns ${orderedJoin()} emails ${indexedBy('emails_campaign_shelf')}
      on emails.campaign_id = campaigns.id and emails.${onShelves('held')}
    where campaigns.status in ('SCHEDULED', 'SENDING') and campaigns.status = 'SENDING'
    group by campaigns.project_id`,
)

/**
 * `slots`: how many slots there are within the next minute. `waitMs`: after how many ms there is
 * one more.
 */
export function countSlots(
  { maxPerHour, pacedAt }: Paced,
  now: number,
): { slots: number; waitMs: number } {
  if (maxPerHour === null) return { slots: Number.POSITIVE_INFINITY, waitMs: 0 }
  const start = nextSlotStart({ maxPerHour, pacedAt }, now)
  const slots = Math.floor(((now + AHEAD_MS - start) * maxPerHour) / HOUR_MS) + 1
  return { slots: Math.max(0, slots), waitMs: Math.max(0, start - AHEAD_MS - now) }
}

/** Returns the slots of the next `count` emails, and where the slots after them begin. */
export function slotsOf(
  { maxPerHour, pacedAt }: Paced,
  { count, now }: { count: number; now: number },
): { dueAt: (index: number) => number; pacedAt: number } {
  if (maxPerHour === null) return { dueAt: () => now, pacedAt }
  const start = nextSlotStart({ maxPerHour, pacedAt }, now)
  const dueAt = (index: number) => Math.ceil(start + (index * HOUR_MS) / maxPerHour)
  return { dueAt, pacedAt: dueAt(count) }
}

/**
 * Returns the columns of progress by which untried emails get new slots. The first slot is an
 * interval away, because an email may have gone out just now.
 */
export function restartPace(
  maxPerHour: number,
  now: number,
): Pick<CampaignProgress, 'hasOldSlots' | 'pacedAt'> {
  return { hasOldSlots: true, pacedAt: now + intervalOf(maxPerHour) }
}

/**
 * Returns when the next slot begins. The last slot is within the next minute, so the next one
 * begins at most one interval later. A later start was given under a lower `maxPerHour`, or by a
 * clock that was ahead: the end of that minute takes its place.
 */
function nextSlotStart(
  { maxPerHour, pacedAt }: { maxPerHour: number; pacedAt: number },
  now: number,
): number {
  const latest = now + AHEAD_MS + intervalOf(maxPerHour)
  return pacedAt > latest ? now + AHEAD_MS : Math.max(pacedAt, now)
}

function intervalOf(maxPerHour: number): number {
  return Math.ceil(HOUR_MS / maxPerHour)
}

/**
 * Gives new slots, at most a minute ahead, to emails of a paced campaign that were put aside. No
 * other emails are made meanwhile. Returns after how many ms to call again at the earliest;
 * undefined if no such email waits.
 */
export async function releasePaced(
  deps: ReleaseDeps,
  campaign: ActiveCampaign,
): Promise<number | undefined> {
  const { id, projectId } = campaign
  if ((await deps.store.read.find(findUntried, { campaignId: id })) === undefined) return undefined
  const { slots, waitMs } = countSlots(campaign, deps.now())
  if (slots === 0) return Math.max(1, waitMs)
  await deps.store.write((tx) => releaseSome(deps, tx, id), { heavyFor: projectId })
  return 0
}

async function releaseSome({ now, queueNotifier }: ReleaseDeps, tx: Tx, id: string): Promise<void> {
  const active = await findSendingCampaign(tx, id)
  if (active === undefined || active.maxPerHour === null || active.hasOldSlots) return
  const at = now()
  const released = await tx.list(releaseUntried, {
    ...{ campaignId: id, maxPerHour: active.maxPerHour, at },
    firstAt: slotsOf(active, { count: 0, now: at }).pacedAt,
    limit: Math.min(BATCH, countSlots(active, at).slots),
  })
  const { pacedAt } = slotsOf(active, { count: released.length, now: at })
  await tx.update(campaignProgress).set({ pacedAt }).where(eq(campaignProgress.campaignId, id))
  tx.afterCommit(() => notifyReleased(queueNotifier, released))
}

export function createQueueRoom(
  deps: RoomDeps,
  clock: () => number = () => performance.now(),
): QueueRoom {
  const { rowsAhead } = deps.config.campaigns
  let counted = new Map<string, EmailsAhead>()
  let countedAt = Number.NEGATIVE_INFINITY

  async function free(projectId: string): Promise<number> {
    if (rowsAhead === 0) return Number.POSITIVE_INFINITY
    if (clock() - countedAt >= COUNT_EVERY_MS) {
      counted = await countAhead(deps)
      countedAt = clock()
    }
    const { ready, all } = counted.get(projectId) ?? NO_EMAILS_AHEAD
    return Math.max(0, Math.min(rowsAhead - ready, ALL_BOUNDS * rowsAhead - all))
  }

  function took(projectId: string, count: number): void {
    if (rowsAhead === 0) return
    const { ready, all, due } = counted.get(projectId) ?? NO_EMAILS_AHEAD
    counted.set(projectId, { ready: ready + count, all: all + count, due: due + count })
  }

  return { free, due: (projectId) => counted.get(projectId)?.due ?? 0, took }
}

async function countAhead({ store, outbound, now }: RoomDeps): Promise<Map<string, EmailsAhead>> {
  const counted = new Map<string, EmailsAhead>()
  for (const lane of await store.scan.list(countLanes, { now: now() })) {
    const { domain, projectId, emails } = lane
    const { ready, all, due } = counted.get(projectId) ?? NO_EMAILS_AHEAD
    const more = canTakeMail(outbound, outbound.siteOf(domain)) ? emails : 0
    counted.set(projectId, { ready: ready + more, all: all + emails, due: due + lane.due })
  }
  for (const { projectId, emails } of await store.scan.list(countHeld)) {
    const ahead = counted.get(projectId) ?? NO_EMAILS_AHEAD
    counted.set(projectId, { ...ahead, all: ahead.all + emails })
  }
  return counted
}

function canTakeMail(outbound: Base['outbound'], site: string): boolean {
  if (outbound.pauseOf(site) !== null || outbound.restrictionOf(site) !== null) return false
  return outbound.capacity(site, CAMPAIGN_CLASS) > 0
}
