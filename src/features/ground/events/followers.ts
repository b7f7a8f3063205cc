/**
 * The names of the handlers of followers, whose cursors are rows of `event_followers`. Not each row is a cursor: 'analytics-backfill'
 * marks where 'analytics' has caught up with an upgrade, and never moves.
 */
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
