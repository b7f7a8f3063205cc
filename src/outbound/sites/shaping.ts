/**
 * How much mail a site may get now. The states of sites are in memory only: after a restart every site
 * starts with its safe limits again.
 *
 * - Connections grow by one after a run of accepted messages; `site-state.ts` has the rules by which
 *   refusals and failures restrict a site. After a pause the site gets few connections, so that the waiting mail
 *   does not overload it.
 * - The number of messages that may wait for one connection depends on how long a message takes at the
 *   site, so that a slow site cannot fill the delivery threads.
 */

import { MINUTE_MS, type Now } from '../../base/clock.ts'
import { createLru } from '../../base/lru.ts'
import type { SiteAction } from '../../formats/replies/reply.ts'
import { findProvider } from '../routing/providers.ts'
import {
  countUnreachable,
  NEW_STATE,
  type RestrictionCause,
  restrict,
  type SiteRate,
  type SiteState,
  setCause,
} from './site-state.ts'

/** An observation of a site in one attempt. `unreachable`: no connection, or no greeting. */
export type SiteObservation =
  | { kind: 'accepted'; durationMs: number }
  | { kind: 'replied'; durationMs: number; action: SiteAction }
  | { kind: 'unreachable' }

/** What the last attempts showed: the site replied about a message, was silent, or is not known yet. */
export type SiteStanding = 'replied' | 'silent' | 'new'

export type SiteShaping = {
  /** How many connections may be open to the site. */
  connections(site: string): number
  /**
   * How many connections the given number of messages needs if the messages share connections; the quicker
   * the site, the more messages share one connection.
   */
  connectionsFor(site: string, messages: number): number
  messagesPerConnection(site: string): number
  requiresTls(site: string): boolean
  /**
   * How many messages may be taken for the site beside the `outstanding` ones. Urgent mail has a
   * reserve of its own, so that a campaign cannot lock it out; a pause or a rate holds for it too.
   */
  capacity(site: string, load: { outstanding: number; isUrgent: boolean }): number
  /** Counts taken messages if the site has a rate. */
  take(site: string, count: number): void
  /** The instant (epoch ms) before which nothing may be sent; 0 if mail may be sent. */
  blockedUntil(site: string): number
  /** Returns true if the site has become blocked. `text`: the reply or error, in one line. */
  record(site: string, observation: SiteObservation, text?: string): boolean
  standing(site: string): SiteStanding
  /** Sites with recorded observations. */
  sites(): string[]
  restriction(site: string): Restriction
  /** Until when (epoch ms) nothing is sent to the site, and why; null = it is not paused. */
  pauseOf(site: string): { until: number; reason: string } | null
  /** When (epoch ms) and why the site was last restricted; null = it is not restricted. */
  restrictionOf(site: string): { triedAt: number; reason: string } | null
  /** Why the site accepts little or no mail now. */
  reasonOf(site: string): string
  /** Ends every restriction at once; false when there was none. */
  lift(site: string): boolean
}

/** The restrictions of a site; all null if it has none. */
type Restriction = {
  /** The limited part of the site; `mail`: nothing is sent. */
  limited: 'mail' | 'rate' | 'connections' | null
  messagesPerMinute: number | null
  /**
   * Until when the site has a limit of messages per minute; null without a limit. Epoch ms, as all instants
   * here.
   */
  rateUntil: number | null
  restrictedSince: number | null
  /** Until when nothing is sent to the site; null without a pause. Never in the past. */
  pausedUntil: number | null
  cause: RestrictionCause | null
}

type ShapingOptions = {
  maxConnectionsPerSite: number
  messagesPerConnection: number
  now: Now
  /** A source of random numbers, as Math.random. */
  random: () => number
}

const MAX_SITES = 20_000
/** Accepted messages per connection before the site gets one more connection. */
const ACCEPTED_TO_GROW = 20
const CONNECTIONS_AFTER_PAUSE = 2
/** How long lowered connections need to come back. */
const RECOVERY_MS = 4 * MINUTE_MS
const MAX_RECENT_REPLIES = 20
/**
 * How many messages may wait for one connection: as many as the connection can send before the queue brings
 * more, even after a slow commit. More would take places from other sites.
 */
const MAX_DEPTH = 20
const MIN_DEPTH = 2
const DEPTH_MS = 400
/** Messages wait this long for a connection in use before one more is opened for them. */
const SHARED_MS = 250
const MAX_SHARED = 4
/** How many messages may wait for the first reply of a site; they share its first connection. */
const UNPROVEN_CAPACITY = 5

export function createShaping(options: ShapingOptions): SiteShaping {
  const { now, random, maxConnectionsPerSite } = options
  const sites = createLru<SiteState>(MAX_SITES)
  const startOf = ({ provider }: Pick<SiteState, 'provider'>) =>
    Math.max(1, Math.min(provider?.connections ?? maxConnectionsPerSite, maxConnectionsPerSite))
  const freshState = (site: string): SiteState => {
    const provider = findProvider(site)
    return { ...NEW_STATE, provider, connections: startOf({ provider }) }
  }
  const stateOf = (site: string) => sites.get(site) ?? freshState(site)
  const isRestricted = (state: SiteState) =>
    state.connections < startOf(state) ||
    connectionsAt(state, now()) < state.connections ||
    state.isProbed ||
    state.pausedUntil > now() ||
    rateOf(state, now()) !== null
  const spread = (ms: number) => Math.round(ms * (0.75 + random() / 2))

  function record(site: string, observation: SiteObservation, text = ''): boolean {
    const state = stateOf(site)
    sites.set(site, state)
    const wasBlocked = blockedUntil(state, now()) > 0
    const before = isRestricted(state) ? { ...state } : null
    if (observation.kind === 'unreachable') countUnreachable(state, { now: now(), spread })
    else {
      countReply(state, observation.kind === 'replied' && observation.action === 'block')
      state.messageMs = movingMean(state.messageMs, observation.durationMs)
      const connections = connectionsAt(state, now())
      const canGrow =
        rateOf(state, now()) === null &&
        connections >= state.connections &&
        state.connections < maxConnectionsPerSite
      if (observation.kind === 'replied')
        restrict(state, observation.action, { now: now(), connections, random, spread })
      else if (canGrow) grow(state)
    }
    if (isRestriction(observation) && isRestricted(state))
      setCause(state, before, { at: now(), text })
    return !wasBlocked && blockedUntil(state, now()) > 0
  }

  function restriction(site: string): Restriction {
    const state = stateOf(site)
    const rate = rateOf(state, now())
    const isNow = isRestricted(state)
    return {
      limited: isNow ? limitedOf(state, rate, now()) : null,
      messagesPerMinute: rate === null ? null : MINUTE_MS / rate.everyMs,
      rateUntil: rate === null ? null : Math.round(rate.until),
      restrictedSince: isNow ? state.restrictedSince : null,
      pausedUntil: state.pausedUntil > now() ? state.pausedUntil : null,
      cause: isNow ? state.cause : null,
    }
  }

  function reasonOf(site: string): string {
    const { pausedUntil, cause } = restriction(site)
    const amount = pausedUntil === null ? 'little' : 'no'
    return `${site} accepts ${amount} mail now: ${cause?.text || 'no reply'}`
  }

  function restrictionOf(site: string): { triedAt: number; reason: string } | null {
    const { pausedUntil, messagesPerMinute, cause } = restriction(site)
    if (cause === null || (pausedUntil === null && messagesPerMinute === null)) return null
    return { triedAt: cause.at, reason: reasonOf(site) }
  }

  function pauseOf(site: string): { until: number; reason: string } | null {
    const { pausedUntil } = restriction(site)
    return pausedUntil === null ? null : { until: pausedUntil, reason: reasonOf(site) }
  }

  function lift(site: string): boolean {
    const state = stateOf(site)
    if (!isRestricted(state)) return false
    sites.set(site, { ...freshState(site), messageMs: state.messageMs })
    return true
  }

  return {
    connections: (site) => connectionsAt(stateOf(site), now()),
    connectionsFor(site, messages) {
      const state = stateOf(site)
      return Math.min(connectionsAt(state, now()), Math.ceil(messages / sharedBy(state)))
    },
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
    pauseOf,
    restrictionOf,
    reasonOf,
    lift,
  }
}

function standingOf({ unreachable, isProbed, messageMs }: SiteState): SiteStanding {
  if (unreachable > 0 || isProbed) return 'silent'
  return messageMs === null ? 'new' : 'replied'
}

/** Whether the observation restricts the site. */
function isRestriction(observation: SiteObservation): boolean {
  if (observation.kind !== 'replied') return observation.kind === 'unreachable'
  return observation.action !== 'none' && observation.action !== 'reconnect'
}

type Load = { outstanding: number; isUrgent: boolean }

function siteCapacity(state: SiteState, { outstanding, isUrgent }: Load, at: number): number {
  if (state.pausedUntil > at) return 0
  if (state.isProbed) return 1 - outstanding
  const places = placesOf(state, at)
  const reserve = isUrgent ? Math.ceil(places / 4) : 0
  return Math.min(places + reserve - outstanding, capacityByRate(state, at))
}

function placesOf(state: SiteState, at: number): number {
  const { messageMs } = state
  if (messageMs === null) return UNPROVEN_CAPACITY
  const depth = Math.ceil(DEPTH_MS / Math.max(1, messageMs))
  return connectionsAt(state, at) * Math.min(MAX_DEPTH, Math.max(MIN_DEPTH, depth))
}

/** How many connections the site may have now: lowered ones come back evenly. */
function connectionsAt({ connections, lowered }: SiteState, at: number): number {
  if (lowered === null || lowered.connections >= connections) return connections
  const share = Math.max(0, at - lowered.at) / RECOVERY_MS
  if (share >= 1) return connections
  return lowered.connections + Math.floor((connections - lowered.connections) * share)
}

/** How many messages share one connection. */
function sharedBy({ messageMs }: SiteState): number {
  if (messageMs === null) return UNPROVEN_CAPACITY
  return Math.min(MAX_SHARED, Math.max(1, Math.floor(SHARED_MS / Math.max(1, messageMs))))
}

function limitedOf(state: SiteState, rate: SiteRate | null, at: number) {
  if (state.pausedUntil > at || state.isProbed) return 'mail'
  return rate === null ? 'connections' : 'rate'
}

/** The rate in force; null if there is none. */
function rateOf({ rate }: SiteState, at: number): SiteRate | null {
  return rate !== null && rate.until > at ? rate : null
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

/** Counts a reply. Any reply shows that the site can be reached. */
function countReply(state: SiteState, isBlock: boolean): void {
  state.blocks = ((state.blocks << 1) | (isBlock ? 1 : 0)) & (2 ** MAX_RECENT_REPLIES - 1)
  state.unreachable = 0
  if (!state.isProbed) return
  state.isProbed = false
  state.pauseCount = 0
  state.pausedUntil = 0
  state.connections = Math.min(state.connections, CONNECTIONS_AFTER_PAUSE)
}

function grow(state: SiteState): void {
  state.accepted++
  if (state.accepted < state.connections * ACCEPTED_TO_GROW) return
  state.connections++
  state.accepted = 0
}

function movingMean(mean: number | null, value: number): number {
  return mean === null ? value : mean + (value - mean) / 8
}
