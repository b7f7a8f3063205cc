/**
 * `maxPerHour`: each email has its slot, the time at which it is due. Slots are given at most a minute
 * ahead, so that a higher `maxPerHour` takes effect soon. After a standstill they begin now: what was
 * missed is not made up for. With a lower one, and after a pause, the emails that were not tried yet are
 * put aside (`settle-stopped.ts`) and get new slots (`release-paced.ts`).
 */
import { HOUR_MS, MINUTE_MS } from '../../../../base/clock.ts'
import type { CampaignProgress } from '../../../../store/schema/campaigns.ts'
import type { ActiveCampaign } from './active.ts'

type Paced = Pick<ActiveCampaign, 'maxPerHour' | 'pacedAt'>

const AHEAD_MS = MINUTE_MS

/** How many slots there are within the next minute, and in how many ms there is one more. */
export function countSlots(
  { maxPerHour, pacedAt }: Paced,
  now: number,
): { slots: number; waitMs: number } {
  if (maxPerHour === null) return { slots: Number.POSITIVE_INFINITY, waitMs: 0 }
  const start = startOf({ maxPerHour, pacedAt }, now)
  const slots = Math.floor(((now + AHEAD_MS - start) * maxPerHour) / HOUR_MS) + 1
  return { slots: Math.max(0, slots), waitMs: Math.max(0, start - AHEAD_MS - now) }
}

/** The slots of the next `count` emails, and where the slots after them begin. */
export function slotsOf(
  { maxPerHour, pacedAt }: Paced,
  { count, now }: { count: number; now: number },
): { dueAt: (index: number) => number; pacedAt: number } {
  if (maxPerHour === null) return { dueAt: () => now, pacedAt }
  const start = startOf({ maxPerHour, pacedAt }, now)
  const dueAt = (index: number) => Math.ceil(start + (index * HOUR_MS) / maxPerHour)
  return { dueAt, pacedAt: dueAt(count) }
}

/**
 * The progress of a campaign whose untried emails are to get new slots. The first one is an interval
 * away, because an email may have gone out just now.
 */
export function restartPace(
  maxPerHour: number,
  now: number,
): Pick<CampaignProgress, 'hasOldSlots' | 'pacedAt'> {
  return { hasOldSlots: true, pacedAt: now + intervalOf(maxPerHour) }
}

/**
 * The last slot is within the next minute, and the one after it at most one interval later. Slots that
 * begin later were given under a lower `maxPerHour`, or by a clock that was ahead: they begin at the
 * end of that minute.
 */
function startOf(
  { maxPerHour, pacedAt }: { maxPerHour: number; pacedAt: number },
  now: number,
): number {
  const latest = now + AHEAD_MS + intervalOf(maxPerHour)
  return pacedAt > latest ? now + AHEAD_MS : Math.max(pacedAt, now)
}

function intervalOf(maxPerHour: number): number {
  return Math.ceil(HOUR_MS / maxPerHour)
}
