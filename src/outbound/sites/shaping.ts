/**
 * How much mail a site may get now. This is kept in memory only: after a restart every site starts with
 * its safe limits again.
 *
 * - Connections grow by one after a run of accepted messages and are halved when the site has
 *   problems (421, unexplained 4yz, lost connections), at most once in a few seconds.
 * - A throttle cuts to one connection and 10 messages a minute (1 when it comes again) for 30-90
 *   minutes; a `suspend` stops for hours.
 * - A refusal of our address may come from one recipient's own rules. A single one halves the
 *   connections; only the third among the last 20 answers counts as a throttle.
 * - A site that could not be reached several times in a row is unreachable: nothing is sent for a pause
 *   that doubles each time, with jitter, then one message probes. After a success the site
 *   gets few connections, so that the waiting mail does not overload it.
 * - The number of messages that may wait for one connection depends on how long a message takes at the
 *   site, so that a slow site cannot fill the delivery threads.
 */
import { LRUCache } from 'lru-cache'
import { MINUTE_MS, type Now } from '../../clock.ts'
import type { SiteAction } from '../../mail/replies/reply.ts'
import { findProvider, type Provider } from '../routing/providers.ts'

/** An observation of a site in one attempt. `unreachable`: no connection, or no greeting. */
export type SiteObservation =
  | { kind: 'accepted'; durationMs: number }
  | { kind: 'replied'; durationMs: number; action: SiteAction }
  | { kind: 'unreachable' }

/** By the last attempts: the site answered about a message, was silent, or is not known yet. */
export type Standing = 'replied' | 'silent' | 'new'

export type Shaping = {
  /** How many connections may be open to the site. */
  connections(site: string): number
  messagesPerConnection(site: string): number
  requiresTls(site: string): boolean
  /**
   * How many messages may be taken for the site beside the `outstanding` ones. Urgent mail has a
   * reserve of its own, so that a campaign cannot lock it out, but no way around a pause or a rate.
   */
  capacity(site: string, load: { outstanding: number; isUrgent: boolean }): number
  /** Counts messages taken, where there is a rate. */
  take(site: string, count: number): void
  /** Epoch ms before which nothing may be sent; 0 when it may. */
  blockedUntil(site: string): number
  /**
   * Returns true if the site has become blocked. `said`: the reply or error that was observed, one
   * line.
   */
  record(site: string, report: SiteObservation, said?: string): boolean
  standing(site: string): Standing
  /** Sites with recorded observations. */
  sites(): string[]
  restriction(site: string): Restriction
  /** Ends every restriction at once; false when there was none. */
  lift(site: string): boolean
}

/** The restrictions of a site; all null if it has none. */
type Restriction = {
  messagesPerMinute: number | null
  /** Until when that rate holds. Epoch ms, as all instants here. */
  rateUntil: number | null
  restrictedSince: number | null
  /** The end of a pause, in which nothing is sent. Never in the past. */
  pausedUntil: number | null
  cause: { at: number; text: string } | null
}

type ShapingOptions = {
  maxConnectionsPerSite: number
  messagesPerConnection: number
  now: Now
  /** As Math.random. */
  random: () => number
}

/** One message every `everyMs`, the next at `nextAt`. */
type Rate = { everyMs: number; nextAt: number; until: number }

type SiteState = {
  provider: Provider | undefined
  connections: number
  /** Accepted in a row since the last change of `connections`. */
  accepted: number
  /** Attempts in a row that did not reach the site. */
  unreachable: number
  /** How often the site was found unreachable since it last answered. */
  pauseCount: number
  /** Nothing until then; afterwards one message at a time while `isProbed`. */
  pausedUntil: number
  isProbed: boolean
  shrunkAt: number
  throttledAt: number
  rate: Rate | null
  /** The last answers, the newest in the lowest bit; a set bit is a refusal of our address. */
  blocks: number
  /** Mean time of a message, moving; null before the first was accepted. */
  messageMs: number | null
  /** Since when the site has been restricted without a break; what it was last restricted for. */
  restrictedSince: number
  cause: { at: number; text: string } | null
}

const newState = {
  accepted: 0,
  unreachable: 0,
  pauseCount: 0,
  pausedUntil: 0,
  isProbed: false,
  shrunkAt: 0,
  throttledAt: 0,
  rate: null,
  blocks: 0,
  messageMs: null,
  restrictedSince: 0,
  cause: null,
}

const MAX_SITES = 20_000
const UNREACHABLE_TO_PAUSE = 5
const FIRST_PAUSE_MS = MINUTE_MS
const MAX_PAUSE_MS = 30 * MINUTE_MS
const SUSPEND_MS = 4 * 60 * MINUTE_MS
const SHRINK_EVERY_MS = 5_000
/** Accepted messages for each connection there is, before there is one more. */
const ACCEPTED_TO_GROW = 20
const CONNECTIONS_AFTER_PAUSE = 2
const MAX_RECENT_REPLIES = 20
const BLOCKS_TO_THROTTLE = 3
/** Messages that may wait for one connection: as many as it sends in about a second. */
const MAX_DEPTH = 20
const MIN_DEPTH = 2
const DEPTH_MS = 1_000
/** Before a site accepted anything, no more than these wait for its answer. */
const UNPROVEN_CAPACITY = 5

export function createShaping(options: ShapingOptions): Shaping {
  const { now, random, maxConnectionsPerSite } = options
  const sites = new LRUCache<string, SiteState>({ max: MAX_SITES })
  const startOf = ({ provider }: Pick<SiteState, 'provider'>) =>
    Math.max(1, Math.min(provider?.connections ?? maxConnectionsPerSite, maxConnectionsPerSite))
  const freshState = (site: string): SiteState => {
    const provider = findProvider(site)
    return { ...newState, provider, connections: startOf({ provider }) }
  }
  const stateOf = (site: string) => sites.get(site) ?? freshState(site)
  const isRestricted = (state: SiteState) =>
    state.connections < startOf(state) ||
    state.isProbed ||
    state.pausedUntil > now() ||
    rateOf(state, now()) !== null
  const spread = (ms: number) => Math.round(ms * (0.75 + random() / 2))

  function record(site: string, report: SiteObservation, said = ''): boolean {
    const state = stateOf(site)
    sites.set(site, state)
    const wasBlocked = blockedUntil(state, now()) > 0
    const before = isRestricted(state) ? { ...state } : null
    if (report.kind === 'unreachable') countUnreachable(state, { now: now(), spread })
    else {
      revive(state)
      noteAnswer(state, report.kind === 'replied' && report.action === 'block')
      const canGrow = rateOf(state, now()) === null && state.connections < maxConnectionsPerSite
      if (report.kind === 'accepted') grow(state, report.durationMs, canGrow)
      else react(state, report, { now: now(), random, spread })
    }
    if (isTrouble(report) && isRestricted(state)) setCause(state, before, { at: now(), text: said })
    return !wasBlocked && blockedUntil(state, now()) > 0
  }

  function restriction(site: string): Restriction {
    const state = stateOf(site)
    const rate = rateOf(state, now())
    const isNow = isRestricted(state)
    return {
      messagesPerMinute: rate === null ? null : MINUTE_MS / rate.everyMs,
      rateUntil: rate === null ? null : Math.round(rate.until),
      restrictedSince: isNow ? state.restrictedSince : null,
      pausedUntil: state.pausedUntil > now() ? state.pausedUntil : null,
      cause: isNow ? state.cause : null,
    }
  }

  function lift(site: string): boolean {
    const state = stateOf(site)
    if (!isRestricted(state)) return false
    sites.set(site, { ...freshState(site), messageMs: state.messageMs })
    return true
  }

  return {
    connections: (site) => stateOf(site).connections,
    messagesPerConnection(site) {
      const limit = stateOf(site).provider?.messagesPerConnection ?? Number.POSITIVE_INFINITY
      return Math.min(limit, options.messagesPerConnection)
    },
    requiresTls: (site) => stateOf(site).provider?.requiresTls === true,
    capacity: (site, load) => Math.max(0, siteCapacity(stateOf(site), load, now())),
    take(site, count) {
      const rate = rateOf(stateOf(site), now())
      if (rate !== null) rate.nextAt = Math.max(rate.nextAt, now()) + count * rate.everyMs
    },
    blockedUntil: (site) => blockedUntil(stateOf(site), now()),
    record,
    standing: (site) => standingOf(stateOf(site)),
    sites: () => [...sites.keys()],
    restriction,
    lift,
  }
}

function standingOf({ unreachable, isProbed, messageMs }: SiteState): Standing {
  if (unreachable > 0 || isProbed) return 'silent'
  return messageMs === null ? 'new' : 'replied'
}

function isTrouble(report: SiteObservation): boolean {
  if (report.kind === 'replied') return report.action !== 'none' && report.action !== 'reconnect'
  return report.kind === 'unreachable'
}

/** `before`: the state as it was, null when it was not restricted. */
function setCause(
  state: SiteState,
  before: SiteState | null,
  cause: { at: number; text: string },
): void {
  if (before === null) state.restrictedSince = cause.at
  const isTightened =
    before === null ||
    state.connections < before.connections ||
    state.pausedUntil > before.pausedUntil ||
    state.rate !== before.rate
  if (isTightened) state.cause = cause
}

type Load = { outstanding: number; isUrgent: boolean }

function siteCapacity(state: SiteState, { outstanding, isUrgent }: Load, at: number): number {
  if (state.pausedUntil > at) return 0
  if (state.isProbed) return 1 - outstanding
  const places = placesOf(state)
  const reserve = isUrgent ? Math.ceil(places / 4) : 0
  return Math.min(places + reserve - outstanding, capacityByRate(state, at))
}

function placesOf({ messageMs, connections }: SiteState): number {
  if (messageMs === null) return UNPROVEN_CAPACITY
  const depth = Math.ceil(DEPTH_MS / Math.max(1, messageMs))
  return connections * Math.min(MAX_DEPTH, Math.max(MIN_DEPTH, depth))
}

/** The rate in force, if there is one. */
function rateOf(state: SiteState, at: number): Rate | null {
  return state.rate !== null && state.rate.until > at ? state.rate : null
}

function capacityByRate(state: SiteState, at: number): number {
  const rate = rateOf(state, at)
  if (rate === null) return Number.POSITIVE_INFINITY
  return rate.nextAt <= at ? 1 : 0
}

function blockedUntil(state: SiteState, at: number): number {
  if (state.pausedUntil > at) return state.pausedUntil
  const rate = rateOf(state, at)
  return rate === null || rate.nextAt <= at ? 0 : Math.min(rate.nextAt, rate.until)
}

type Chance = { now: number; random: () => number; spread: (ms: number) => number }

function countUnreachable(state: SiteState, { now, spread }: Omit<Chance, 'random'>): void {
  // Attempts that began before the site was found unreachable say nothing new.
  if (state.pausedUntil > now) return
  state.unreachable++
  state.accepted = 0
  if (!state.isProbed && state.unreachable < UNREACHABLE_TO_PAUSE) return
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** state.pauseCount, MAX_PAUSE_MS)
  state.pauseCount++
  state.isProbed = true
  state.pausedUntil = now + spread(pauseMs)
}

/** Any reply shows that the site is alive. */
function revive(state: SiteState): void {
  state.unreachable = 0
  if (!state.isProbed) return
  state.isProbed = false
  state.pauseCount = 0
  state.pausedUntil = 0
  state.connections = Math.min(state.connections, CONNECTIONS_AFTER_PAUSE)
}

function noteAnswer(state: SiteState, isBlock: boolean): void {
  state.blocks = ((state.blocks << 1) | (isBlock ? 1 : 0)) & (2 ** MAX_RECENT_REPLIES - 1)
}

function blockCount({ blocks }: SiteState): number {
  return blocks.toString(2).replaceAll('0', '').length
}

function grow(state: SiteState, durationMs: number, canGrow: boolean): void {
  state.messageMs = movingMean(state.messageMs, durationMs)
  if (!canGrow) return
  state.accepted++
  if (state.accepted < state.connections * ACCEPTED_TO_GROW) return
  state.connections++
  state.accepted = 0
}

function react(
  state: SiteState,
  { action, durationMs }: { action: SiteAction; durationMs: number },
  chance: Chance,
): void {
  state.messageMs = movingMean(state.messageMs, durationMs)
  switch (action) {
    case 'none':
    case 'reconnect':
      return
    case 'slow':
      shrink(state, chance.now)
      return
    case 'throttle':
      throttle(state, chance)
      return
    case 'block':
      if (blockCount(state) < BLOCKS_TO_THROTTLE) shrink(state, chance.now)
      else throttle(state, chance)
      return
    case 'suspend':
      state.pausedUntil = chance.now + chance.spread(SUSPEND_MS)
      throttle(state, chance)
  }
}

function shrink(state: SiteState, at: number): void {
  state.accepted = 0
  if (at - state.shrunkAt < SHRINK_EVERY_MS) return
  state.connections = Math.max(1, Math.floor(state.connections / 2))
  state.shrunkAt = at
}

function throttle(state: SiteState, { now, random }: Chance): void {
  // One problem causes several replies, one on each connection.
  if (now - state.throttledAt < SHRINK_EVERY_MS) return
  const isRepeated = rateOf(state, now) !== null
  state.shrunkAt = now
  state.throttledAt = now
  state.connections = 1
  state.accepted = 0
  const everyMs = MINUTE_MS / (isRepeated ? 1 : 10)
  const until = now + (30 + random() * 60) * MINUTE_MS
  state.rate = { everyMs, nextAt: now + everyMs, until }
}

function movingMean(mean: number | null, value: number): number {
  return mean === null ? value : mean + (value - mean) / 8
}
