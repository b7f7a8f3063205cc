/** Deletes old invitations, which hold the addresses of people. */
import { DAY_MS } from '../../../../base/clock.ts'
import { oldRows, type Retention } from '../../../../work/retention.ts'

export const INVITATIONS: Retention = {
  name: 'delete-old-invitations',
  schedule: '30 3 * * *',
  // Longer than an invitation is open, and than any limit looks back.
  keptMs: 30 * DAY_MS,
  deletions: [
    oldRows({
      ...{ table: 'invitations', key: 'id', column: 'created_at' },
      index: 'invitations_oldest',
    }),
  ],
  pace: { first: 100, max: 2_000, batchMs: 4, rest: { times: 2 } },
}
