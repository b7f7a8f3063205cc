/**
 * How long transactional mail waits to be tried. Mail that waits for its time, for a site in back-off or
 * for an operator does not count. Campaigns are left out: their mail waits in line for as long as they
 * last.
 */
import { formatSecond, MINUTE_MS } from '../../../base/clock.ts'
import { TRANSACTIONAL_CLASS } from '../../../base/queue-class.ts'
import { findOldestDue } from '../../mail/messages/queue/waiting-mail.ts'
import type { Check } from './check.ts'
import { failed, NEEDS_SERVER, ok, skipped, warning } from './outcome.ts'

/** Mail is tried within a second of its time; minutes mean that something is too slow. */
const WARNING_MS = 5 * MINUTE_MS
const FAILED_MS = 30 * MINUTE_MS

export const oldestDueCheck: Check = {
  id: 'oldest_due',
  run: async ({ store, server, now }) => {
    if (server === null) return skipped(NEEDS_SERVER)
    const { outbound } = server
    const dueAt = await findOldestDue({ store, outbound, now }, TRANSACTIONAL_CLASS)
    if (dueAt === undefined) return ok('no transactional mail waits')
    const waitedMs = now() - dueAt
    const text = `the oldest transactional mail has been due since ${formatSecond(dueAt)}`
    const fix = 'pillarbox queue list --state queued\npillarbox queue sites'
    if (waitedMs >= FAILED_MS) return failed(text, fix)
    return waitedMs >= WARNING_MS ? warning(text, fix) : ok(text)
  },
}
