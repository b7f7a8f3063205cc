/** Deletes sessions and tokens of mailed links that have expired. */
import { oldRows, type Retention } from '../../../../work/retention.ts'

export const SESSIONS: Retention = {
  name: 'sweep-sessions',
  schedule: '37 * * * *',
  keptMs: 0,
  deletions: [
    oldRows({ table: 'sessions', key: 'id', column: 'expires_at', index: 'sessions_expiry' }),
    oldRows({
      ...{ table: 'account_tokens', key: 'digest', column: 'expires_at' },
      index: 'account_tokens_expiry',
    }),
  ],
  // So few that a request waits some milliseconds for them.
  pace: { rows: 500, rest: 'none' },
}
