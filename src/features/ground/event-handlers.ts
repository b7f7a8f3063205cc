/**
 * The types of the handlers of events, which the areas hand in, and the names of all handlers of
 * followers. The cursor of a handler is the row of `event_followers` with its name. The row
 * 'analytics-backfill' is no cursor: it marks up to where an upgrade has counted for 'analytics',
 * and never moves.
 */
import type { CountedEvent } from '../../store/schema/analytics.ts'
import type { EventRow } from '../../store/schema/events.ts'
import type { FollowerHandler } from '../../work/follower-handlers.ts'

export const FOLLOWERS = [
  'analytics',
  'billing',
  'campaign-figures',
  'campaign-refusals',
  'reputation',
  'webhooks',
  'workflows',
] as const

export type FollowerName = (typeof FOLLOWERS)[number]

/**
 * A row of an event without its data, which may have a megabyte: a handler reads the data of the few events
 * that it needs.
 */
export type UrgentEvent = Omit<EventRow, 'data'>

export type UrgentHandler = FollowerHandler<UrgentEvent, FollowerName>
export type LazyHandler = FollowerHandler<CountedEvent, FollowerName>
