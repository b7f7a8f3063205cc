/** The type of a source of future activity. */
import type { ActivityRecord } from '../../../records/activity.ts'
import type { Base } from '../../ground/base.ts'

/** `from` and `until` in epoch ms; `from` itself is excluded, `until` included. */
export type UpcomingQuery = { projectId: string; from: number; until: number; limit: number }

/** Lists at most `limit` activities, soonest first; those without a time come last. */
export type UpcomingSource = (
  deps: Pick<Base, 'store'>,
  query: UpcomingQuery,
) => Promise<ActivityRecord[]>
