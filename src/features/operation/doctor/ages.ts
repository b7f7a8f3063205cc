/**
 * The checks of ages: of the last verified backup, and of the transactional mail that waits
 * longest.
 */
import { DAY_MS, formatSecond, MINUTE_MS } from '../../../base/clock.ts'
import { TRANSACTIONAL_CLASS } from '../../../base/queue-class.ts'
import { findOldestDue } from '../../mail/messages/queue/waiting-mail.ts'
import type { Check } from './check.ts'
import { failed, NEEDS_SERVER, ok, skipped, warning } from './outcome.ts'

const UNSCHEDULED_MS = 8 * DAY_MS
const BACKUP_FAILED_MS = 28 * DAY_MS

const FIX_UNSCHEDULED =
  'pillarbox backup FILE\nor, in the configuration file:\n[backup]\nevery = "1d"\ndir = "/var/backups/pillarbox"'

const FIX_SCHEDULED = 'pillarbox backup FILE\nand look for the reason in GET /health and the log.'

/** Mail is tried within a second of its time; minutes mean that something is too slow. */
const DUE_WARNING_MS = 5 * MINUTE_MS

const DUE_FAILED_MS = 30 * MINUTE_MS

/**
 * How old the last verified backup is. Older than twice the schedule, or than eight days without a
 * schedule, is a warning; four weeks fail, because so much work is lost with the disk.
 */
export const backupCheck: Check = {
  id: 'backup',
  run: async ({ config, findLastBackup, now }) => {
    if (config.delivery.mode === 'sandbox') return skipped('a sandbox needs no backup')
    const { everyMs } = config.backup
    const { verified, failed: newestFailed } = await findLastBackup()
    const fix = everyMs === null ? FIX_UNSCHEDULED : FIX_SCHEDULED
    if (verified === undefined) {
      const error = newestFailed === undefined ? '' : `; the last attempt: ${newestFailed.error}`
      return warning(`there is no backup${error}`, fix)
    }
    const ageMs = now() - verified.startedAt
    const warningMs = everyMs === null ? UNSCHEDULED_MS : 2 * everyMs
    const text = `the last backup is of ${formatSecond(verified.startedAt)}, ${Math.floor(ageMs / DAY_MS)} days old: ${placeOf(verified)}`
    if (ageMs >= Math.max(BACKUP_FAILED_MS, 1.5 * warningMs)) return failed(text, fix)
    if (ageMs >= warningMs) return warning(text, fix)
    if (newestFailed === undefined) return ok(text)
    const at = formatSecond(newestFailed.startedAt)
    return warning(`the attempt of ${at} failed: ${newestFailed.error}; ${text}`, fix)
  },
}

/** A backup on standard output was not read back by this server. */
function placeOf({ file }: { file: string }): string {
  return file === '-' ? 'to standard output, not verified by this server' : file
}

/**
 * How long transactional mail waits to be tried. Mail that waits for its time, for a site in
 * back-off or for an operator does not count, and neither do campaigns: their mail waits in line
 * for as long as they last.
 */
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
    if (waitedMs >= DUE_FAILED_MS) return failed(text, fix)
    return waitedMs >= DUE_WARNING_MS ? warning(text, fix) : ok(text)
  },
}
