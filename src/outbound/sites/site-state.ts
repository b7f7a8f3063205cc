/**
 * The state of a site, and how refusals and failures restrict it:
 *
 * - Problems (421, unexplained 4yz, lost connections) halve its connections, at most once in a few
 *   seconds.
 * - A limit of connections halves them for the moment. They come back within minutes; a limit that is reached
 *   again within half an hour leaves fewer for good, which grow as at first. It is no limit of rate.
 * - A throttle leaves one connection and 10 messages a minute (1 if it comes again) for 30-90
 *   minutes; a `suspend` also stops all mail for hours.
 * - A refusal of the source address may come from one recipient's own rules. A single one halves
 *   the connections; only the third among the last 20 replies counts as a throttle.
 * - A site that could not be reached several times in a row is unreachable: nothing is sent for a
 *   pause that doubles each time, with jitter; then one message probes the site.
 */
import { HOUR_MS, MINUTE_MS } from '../../base/clock.ts'
import type { SiteAction } from '../../formats/replies/reply.ts'
import type { Provider } from '../routing/providers.ts'

/** A limit of one message every `everyMs`; the next message may go at `nextAt`. */
export type SiteRate = { everyMs: number; nextAt: number; until: number }

/** The reply or error that restricted a site: when, and its text in one line. */
export type RestrictionCause = { at: number; text: string }

/**
 * Connections that a limit lowered to `connections` at `at`. `since`: when the limit was reached; several
 * replies in a short time are about the same limit.
 */
type Lowered = { connections: number; at: number; since: number }

/** What is known about a site. Instants are epoch ms. */
export type SiteState = {
  provider: Provider | undefined
  connections: number
  /** Messages accepted in a row since the last change of `connections`. */
  accepted: number
  /** Attempts in a row that did not reach the site. */
  unreachable: number
  /** How often the site was found unreachable since its last reply. */
  pauseCount: number
  /** Nothing is sent until then; afterwards one message at a time while `isProbed`. */
  pausedUntil: number
  isProbed: boolean
  shrunkAt: number
  /** The last limit of connections; null once they have come back. */
  lowered: Lowered | null
  throttledAt: number
  rate: SiteRate | null
  /** The last replies, the newest in the lowest bit; a set bit is a refusal of the source address. */
  blocks: number
  /** Moving mean of the time that a message takes; null before the first reply about a message. */
  messageMs: number | null
  /** Since when the site has been restricted without a break. */
  restrictedSince: number
  cause: RestrictionCause | null
}

/** `connections`: how many the site may have now. `spread`: adds jitter to a time. */
type Timing = {
  now: number
  connections: number
  random: () => number
  spread: (ms: number) => number
}

export const NEW_STATE: Omit<SiteState, 'provider' | 'connections'> = {
  accepted: 0,
  unreachable: 0,
  pauseCount: 0,
  pausedUntil: 0,
  isProbed: false,
  shrunkAt: 0,
  lowered: null,
  throttledAt: 0,
  rate: null,
  blocks: 0,
  messageMs: null,
  restrictedSince: 0,
  cause: null,
}

const UNREACHABLE_TO_PAUSE = 5
const FIRST_PAUSE_MS = MINUTE_MS
const MAX_PAUSE_MS = 30 * MINUTE_MS
const SUSPEND_MS = 4 * HOUR_MS
const SHRINK_EVERY_MS = 5_000
const BLOCKS_TO_THROTTLE = 3
/** Replies within this time are about one problem: connections are opened and refused side by side. */
const ONE_LIMIT_MS = 30_000
const REMEMBERED_MS = 30 * MINUTE_MS
/** The part of the connections that stays when their limit is reached again. */
const KEPT_SHARE = 3 / 4

/** Changes the state after an attempt that did not reach the site. */
export function countUnreachable(
  state: SiteState,
  { now, spread }: Pick<Timing, 'now' | 'spread'>,
): void {
  // Attempts that began before the pause show nothing new.
  if (state.pausedUntil > now) return
  state.unreachable++
  state.accepted = 0
  if (!state.isProbed && state.unreachable < UNREACHABLE_TO_PAUSE) return
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** state.pauseCount, MAX_PAUSE_MS)
  state.pauseCount++
  state.isProbed = true
  state.pausedUntil = now + spread(pauseMs)
}

/** Changes the state after a reply that asks for `action`. */
export function restrict(state: SiteState, action: SiteAction, timing: Timing): void {
  switch (action) {
    case 'none':
    case 'reconnect':
      return
    case 'slow':
      shrink(state, timing.now)
      return
    case 'fewer connections':
      lowerConnections(state, timing)
      return
    case 'throttle':
      throttle(state, timing)
      return
    case 'block':
      if (countBlocks(state) < BLOCKS_TO_THROTTLE) shrink(state, timing.now)
      else throttle(state, timing)
      return
    case 'suspend':
      state.pausedUntil = timing.now + timing.spread(SUSPEND_MS)
      throttle(state, timing)
  }
}

function lowerConnections(state: SiteState, { now, connections: current }: Timing): void {
  state.accepted = 0
  if (now - state.shrunkAt < SHRINK_EVERY_MS) return
  const since = state.lowered?.since ?? Number.NEGATIVE_INFINITY
  const isSame = now - since < ONE_LIMIT_MS
  if (!isSame && now - since < REMEMBERED_MS) {
    state.connections = Math.max(1, Math.floor(current * KEPT_SHARE))
  }
  const connections = Math.max(1, Math.floor(current / 2))
  state.lowered = { connections, at: now, since: isSame ? since : now }
  state.shrunkAt = now
}

function countBlocks({ blocks }: SiteState): number {
  return blocks.toString(2).replaceAll('0', '').length
}

function shrink(state: SiteState, at: number): void {
  state.accepted = 0
  if (at - state.shrunkAt < SHRINK_EVERY_MS) return
  state.connections = Math.max(1, Math.floor(state.connections / 2))
  state.shrunkAt = at
}

function throttle(state: SiteState, { now, random }: Timing): void {
  // One problem causes several replies, one on each connection.
  if (now - state.throttledAt < SHRINK_EVERY_MS) return
  const isRepeated = state.rate !== null && state.rate.until > now
  state.shrunkAt = now
  state.throttledAt = now
  state.connections = 1
  state.accepted = 0
  const everyMs = MINUTE_MS / (isRepeated ? 1 : 10)
  const until = now + (30 + random() * 60) * MINUTE_MS
  state.rate = { everyMs, nextAt: now + everyMs, until }
}

/**
 * Keeps the reply or error that restricted the site, if the attempt made the restriction tighter. `before`:
 * the state before the attempt; null if the site was not restricted.
 */
export function setCause(
  state: SiteState,
  before: SiteState | null,
  cause: RestrictionCause,
): void {
  if (before === null) state.restrictedSince = cause.at
  const isTightened =
    before === null ||
    state.connections < before.connections ||
    state.lowered !== before.lowered ||
    state.pausedUntil > before.pausedUntil ||
    state.rate !== before.rate
  if (isTightened) state.cause = cause
}
