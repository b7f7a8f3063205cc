/**
 * Which site gives up connections when another one has none and what they share is used up: those
 * that have nothing to do; else one that has kept silent for too long, whose session is cut; else
 * the one with the most, once a message of its is through; the last connection of a site only when
 * the other one has waited a while.
 *
 * A silent site has a second against urgent mail, and half a minute against the rest. There are
 * servers that greet late on purpose: each time one was cut it has eight times as long, so that
 * its mail gets through. At the end it has more than a session takes to fail by itself: a cut is no
 * attempt, and mail that was only ever cut would never be given up.
 */
import { defaultTimeouts } from '../smtp/timeouts.ts'

export type Holder = {
  site: string
  connections: number
  isIdle: boolean
  /** It has been told to give some up, and has not yet. */
  isLowering: boolean
  /** Since when it has owed us its greeting; null = it has greeted, or has no session. */
  silentSince: number | null
  /** How often it was cut since it last greeted. */
  cuts: number
  /** One of its addresses is one of the hungry site's. */
  isSameServer: boolean
}

export type StarvedSite = { since: number; isUrgent: boolean; now: number }

/** Bring the site down to so many connections; `isCut`: its silent session is ended at once. */
export type Reclaim = { site: string; connections: number; isCut: boolean }

const URGENT_SILENCE_MS = 1_000
const SILENCE_MS = 30_000
const LENIENCY = 8
const MAX_SILENCE_MS = defaultTimeouts.connect + defaultTimeouts.greeting + 30_000
/** So long a site waits before another one has to give up its only connection. */
const URGENT_PATIENCE_MS = 500
const PATIENCE_MS = 5_000

/** `holders`: those that have connections. Of idle ones at most so many. */
export function chooseReclaim(
  holders: readonly Holder[],
  starving: StarvedSite,
  maxIdle: number,
): Reclaim[] {
  const ready = holders.filter(({ isLowering }) => !isLowering)
  const idle = ready.filter(({ isIdle }) => isIdle).slice(0, maxIdle)
  // Who is silent would give up its connection only when its time is over.
  const talking = ready.filter(({ silentSince }) => silentSince === null)
  if (idle.length > 0) return idle.map(({ site }) => ({ site, connections: 0, isCut: false }))
  const silent = holders
    .filter((holder) => isTooSilent(holder, starving))
    .reduce(longestSilent, null)
  if (silent !== null) return [{ ...less(silent), isCut: true }]
  const richest = talking.reduce(withMost, null)
  if (richest === null || richest.connections < (mayTakeLast(starving) ? 1 : 2)) return []
  return [{ ...less(richest), isCut: false }]
}

function isTooSilent({ silentSince, cuts, isSameServer }: Holder, starving: StarvedSite): boolean {
  if (silentSince === null || isSameServer) return false
  const base = starving.isUrgent ? URGENT_SILENCE_MS : SILENCE_MS
  return starving.now - silentSince >= Math.min(MAX_SILENCE_MS, base * LENIENCY ** cuts)
}

function mayTakeLast({ since, isUrgent, now }: StarvedSite): boolean {
  return now - since > (isUrgent ? URGENT_PATIENCE_MS : PATIENCE_MS)
}

function longestSilent(longest: Holder | null, one: Holder): Holder {
  if (longest === null) return one
  return (one.silentSince ?? 0) < (longest.silentSince ?? 0) ? one : longest
}

/** Of several with as many it is the one that came first. */
function withMost(most: Holder | null, one: Holder): Holder {
  return most === null || one.connections > most.connections ? one : most
}

function less({ site, connections }: Holder) {
  return { site, connections: connections - 1 }
}
