/** A list of activities that are scheduled for the future. */
import type { ActivityRecord } from '../../../records/activity.ts'
import type { Base } from '../../ground/base.ts'

/** Epoch ms: `from` is excluded, `until` is included. */
export type UpcomingQuery = { projectId: string; from: number; until: number; limit: number }

/** Lists at most `limit` activities, soonest first; those without a time come last. */
export type UpcomingSource = (
  deps: Pick<Base, 'store'>,
  query: UpcomingQuery,
) => Promise<ActivityRecord[]>
