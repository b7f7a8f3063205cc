/** How long a session lasts: 7 days after its last use, to the day, and 30 days at most. */
import { DAY_MS } from '../../../../base/clock.ts'
import type { LoginSession } from '../../../../store/schema/accounts.ts'
import { oldRows, type Retention } from '../../../../work/retention.ts'

const IDLE_MS = 7 * DAY_MS
const MAX_MS = 30 * DAY_MS
/** The cookie is issued anew at most this often. */
const RENEW_AFTER_MS = DAY_MS

export function expiryOf({
  createdAt,
  issuedAt,
}: Pick<LoginSession, 'createdAt' | 'issuedAt'>): number {
  return Math.min(issuedAt + IDLE_MS, createdAt + MAX_MS)
}

/** Whether a later expiry is possible and the cookie is old enough. */
export function isRenewalDue(
  session: Pick<LoginSession, 'createdAt' | 'issuedAt' | 'expiresAt'>,
  at: number,
): boolean {
  const { createdAt, issuedAt, expiresAt } = session
  return at - issuedAt >= RENEW_AFTER_MS && expiryOf({ createdAt, issuedAt: at }) > expiresAt
}

/** Deletes sessions and tokens of mailed links that have expired. */
export const SESSIONS: Retention = {
  name: 'delete-expired-sessions',
  schedule: '37 * * * *',
  keptMs: 0,
  deletions: [
    oldRows({ table: 'sessions', key: 'id', column: 'expires_at', index: 'sessions_expiry' }),
    oldRows({
      ...{ table: 'account_tokens', key: 'digest', column: 'expires_at' },
      index: 'account_tokens_expiry',
    }),
  ],
  // So few rows that a request waits only some milliseconds for their deletion.
  pace: { rows: 500, rest: 'none' },
}
