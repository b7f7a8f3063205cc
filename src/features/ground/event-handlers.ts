/**
 * The handlers of events, which the areas hand in, and the names of all handlers of followers, whose cursors are
 * rows of `event_followers`. Not each row is a cursor: 'analytics-backfill' marks where 'analytics' has caught up
 * with an upgrade, and never moves.
 */
import type { CountedEvent } from '../../store/schema/analytics.ts'
import type { EventRow } from '../../store/schema/events.ts'
import type { Handler } from '../../work/follower-handlers.ts'

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

/** `dataText`: the data as stored, because few events are looked at (`withData`, `events/readers.ts`). */
export type UrgentEvent = Omit<EventRow, 'data'> & { dataText: string | null }

export type UrgentHandler = Handler<UrgentEvent, FollowerName>
export type LazyHandler = Handler<CountedEvent, FollowerName>
