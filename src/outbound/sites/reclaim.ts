/**
 * Decides which site gives up a connection for a starved site, which has none because a budget that
 * the sites share is used up by busy sites: a site that has been silent for too long, whose session
 * is cut; else the site with the most connections, after its current message. A site gives up its
 * last connection only if the starved site has waited for a while, and only after some
 * messages: a connection that changes hands after each message costs more than it carries.
 *
 * A silent site has one second if urgent mail waits, else half a minute. Some servers delay their
 * greeting on purpose, so each cut multiplies the time by eight, and their mail gets through. The
 * longest time exceeds that in which a session fails by itself, because a cut does not count as an
 * attempt: mail whose sessions were always cut would never be given up.
 */
import { DEFAULT_TIMEOUTS } from '../smtp/timeouts.ts'

export type Holder = {
  site: string
  connections: number
  /** It was asked to give up connections and still has them. */
  isLowering: boolean
  /** When the wait for its greeting began, epoch ms; null = it has greeted, or has no session. */
  silentSince: number | null
  /** How often it was cut since it last greeted. */
  cuts: number
  /** Since when it has had connections, epoch ms; null without any. */
  servedSince: number | null
  /** It shares an address with the starved site. */
  isSameServer: boolean
}

export type Starving = { since: number; isUrgent: boolean; now: number }

/** Lowers the site to `connections`. `isCut`: its silent session ends at once. */
export type Reclaim = { site: string; connections: number; isCut: boolean }

const URGENT_SILENCE_MS = 1_000
const SILENCE_MS = 30_000
const SILENCE_FACTOR = 8
const MAX_SILENCE_MS = DEFAULT_TIMEOUTS.connect + DEFAULT_TIMEOUTS.greeting + 30_000
/** How long a site waits until another site must give up its only connection. */
const MIN_URGENT_WAIT_MS = 500
const MIN_WAIT_MS = 5_000
/** How long a site keeps its only connection. */
const MIN_HELD_MS = 1_000

/** `holders`: the busy sites with connections. Null: none gives up a connection now. */
export function chooseReclaim(holders: readonly Holder[], starving: Starving): Reclaim | null {
  const silent = holders
    .filter((holder) => isTooSilent(holder, starving))
    .reduce(longerSilent, null)
  if (silent !== null) return { ...oneFewer(silent), isCut: true }
  // A silent site would give up its connection only when its session fails.
  const greeted = holders.filter((one) => !one.isLowering && one.silentSince === null)
  const largest = greeted.reduce(largerOf, null)
  if (largest !== null && largest.connections > 1) return { ...oneFewer(largest), isCut: false }
  if (!mayTakeLast(starving)) return null
  const longest = greeted.filter((holder) => hasHeld(holder, starving)).reduce(longerHeld, null)
  return longest === null ? null : { ...oneFewer(longest), isCut: false }
}

function isTooSilent({ silentSince, cuts, isSameServer }: Holder, starving: Starving): boolean {
  if (silentSince === null || isSameServer) return false
  const base = starving.isUrgent ? URGENT_SILENCE_MS : SILENCE_MS
  return starving.now - silentSince >= Math.min(MAX_SILENCE_MS, base * SILENCE_FACTOR ** cuts)
}

function mayTakeLast({ since, isUrgent, now }: Starving): boolean {
  return now - since > (isUrgent ? MIN_URGENT_WAIT_MS : MIN_WAIT_MS)
}

function hasHeld({ connections, servedSince }: Holder, { isUrgent, now }: Starving): boolean {
  if (connections < 1) return false
  return isUrgent || servedSince === null || now - servedSince >= MIN_HELD_MS
}

function longerHeld(longest: Holder | null, one: Holder): Holder {
  if (longest === null) return one
  return (one.servedSince ?? 0) < (longest.servedSince ?? 0) ? one : longest
}

function longerSilent(longest: Holder | null, one: Holder): Holder {
  if (longest === null) return one
  return (one.silentSince ?? 0) < (longest.silentSince ?? 0) ? one : longest
}

/** Returns the site with more connections; on a tie, the earlier one. */
function largerOf(largest: Holder | null, one: Holder): Holder {
  return largest === null || one.connections > largest.connections ? one : largest
}

function oneFewer({ site, connections }: Holder) {
  return { site, connections: connections - 1 }
}
