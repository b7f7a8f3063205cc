/**
 * How old the last verified backup is. Older than twice the schedule, or than eight days without a
 * schedule, is a warning; four weeks fail, because so much work is lost with the disk.
 */
import { DAY_MS, formatSecond } from '../../../base/clock.ts'
import type { Check } from './check.ts'
import { failed, ok, skipped, warning } from './outcome.ts'

const UNSCHEDULED_MS = 8 * DAY_MS
const FAILED_MS = 28 * DAY_MS

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
    if (ageMs >= Math.max(FAILED_MS, 1.5 * warningMs)) return failed(text, fix)
    if (ageMs >= warningMs) return warning(text, fix)
    if (newestFailed === undefined) return ok(text)
    const at = formatSecond(newestFailed.startedAt)
    return warning(`the attempt of ${at} failed: ${newestFailed.error}; ${text}`, fix)
  },
}

/** Nobody has read back what went to standard output. */
function placeOf({ file }: { file: string }): string {
  return file === '-' ? 'to standard output, not verified by this server' : file
}

const FIX_UNSCHEDULED =
  'pillarbox backup FILE\nor, in the configuration file:\n[backup]\nevery = "1d"\ndir = "/var/backups/pillarbox"'
const FIX_SCHEDULED = 'pillarbox backup FILE\nand look for the reason in GET /health and the log.'
