/**
 * The checks of the machine and of this server on it: the clock, the space of its disks, the write-ahead
 * log, the age of the last backup and of waiting mail and, for the command alone, the integrity of the
 * database.
 */
import path from 'node:path'

import { DAY_MS, formatSecond, MINUTE_MS, SECOND_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { TRANSACTIONAL_CLASS } from '../../../base/queue-class.ts'
import { nativeBindingPath } from '../../../config/addon.ts'
import type { Config } from '../../../config/config.ts'
import { quoteWord } from '../../../config/shell-word.ts'
import type { DiskSpace } from '../../../store/files/disk.ts'
import { findDamage } from '../../../store/find-damage.sqlite.ts'
import { findLostLogFence } from '../../ground/fence/rows.ts'
import { findOldestDue } from '../../mail/messages/queue/waiting-mail.ts'
import {
  type Check,
  type CheckContext,
  type CheckOutcome,
  type CheckPart,
  type CheckResult,
  combine,
  failed,
  NEEDS_SERVER,
  ok,
  skipped,
  toCheckResult,
  warning,
} from './check.ts'

const DATABASE_FIX =
  'Stop the server, keep a copy of data_dir, and restore the last backup: pillarbox restore FILE'
const CLOCK_OK_MS = 5 * SECOND_MS
const CLOCK_WARNING_MS = 60 * SECOND_MS
const CLOCK_FIX = 'timedatectl set-ntp true'
const FAILED_SHARE = 0.02
const WARNING_SHARE = 0.1
const MIB = 1024 * 1024

/** The log of a busy server is smaller, and so is the log during a backup of some minutes. */
const WAL_WARNING_BYTES = 1024 * MIB

/** The log during a backup of an hour is smaller. */
const WAL_FAILED_BYTES = 4096 * MIB

const FIX_LOST =
  'Let the senders look for what the server has accepted and does not know any more. Look at what is held (pillarbox queue holds), cancel what was sent already, and let the rest go: pillarbox queue release --restored'

/**
 * Compares the clock with the Date header of `doctor.time_url`, which has whole seconds. If the
 * clock is wrong by more than a minute, receivers may take signatures as made in the future, and
 * codes of a second factor fail. A difference of seconds means that no program keeps the clock
 * right.
 */
export const clockCheck: Check = {
  id: 'clock',
  run: async ({ config, probes, now }) => {
    const { timeUrl } = config.doctor
    if (timeUrl === null) return skipped('doctor.time_url is not set')
    const askedAt = now()
    const result = await probes.request({ url: new URL(timeUrl), method: 'HEAD' })
    const answeredAt = now()
    if (result.kind !== 'response')
      return warning(`${timeUrl}: ${result.error}`, 'Check doctor.time_url.')
    const at = Date.parse(result.headers.date ?? '')
    if (Number.isNaN(at))
      return warning(`${timeUrl} sends no date`, 'Choose another doctor.time_url.')
    // The answer was written between the two instants, within the second that it names.
    const aheadMs = Math.max(0, askedAt - (at + SECOND_MS)) - Math.max(0, at - answeredAt)
    const seconds = Math.round(Math.abs(aheadMs) / SECOND_MS)
    const text = `the clock is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} ${timeUrl}`
    if (Math.abs(aheadMs) <= CLOCK_OK_MS) return ok(seconds === 0 ? `as at ${timeUrl}` : text)
    return Math.abs(aheadMs) <= CLOCK_WARNING_MS
      ? warning(text, CLOCK_FIX)
      : failed(text, CLOCK_FIX)
  },
}

/**
 * Free space of the disks that the server writes to. The check fails where `limits.min_free_bytes`
 * stops the server from accepting or less than 2% are free, and warns below 10%.
 */
export const diskSpaceCheck: Check = {
  id: 'disk_space',
  run: (context) => checkFolders(context, (folder, space) => checkSpace(context, folder, space)),
}

/** Free inodes of the same disks, with the same shares. */
export const inodesCheck: Check = {
  id: 'inodes',
  run: (context) => checkFolders(context, checkInodes),
}

async function checkFolders(
  { config, readSpace }: CheckContext,
  check: (folder: string, space: DiskSpace) => CheckPart,
): Promise<CheckOutcome> {
  const { dir } = config.backup
  const own = [config.dataDir, path.dirname(config.database.file)]
  const folders = new Set(dir === null ? own : [...own, dir])
  const parts = await Promise.all(
    [...folders].map(async (folder) => {
      try {
        return check(folder, await readSpace(folder))
      } catch (error) {
        return warning(`${folder}: ${describeError(error)}`, `ls -ld ${quoteWord(folder)}`)
      }
    }),
  )
  return combine(parts, parts.map(({ evidence }) => evidence).join('; '))
}

function checkSpace(
  { config }: CheckContext,
  folder: string,
  { free, total }: DiskSpace,
): CheckPart {
  const { minFreeBytes } = config.limits
  const text = `${folder}: ${megabytes(free)} MB of ${megabytes(total)} MB free, ${percent(free, total)}`
  const fix = `df -h ${folder}\ndu -xh --max-depth=2 ${folder} | sort -h | tail`
  if (free < minFreeBytes) {
    const limit = `less than limits.min_free_bytes, ${megabytes(minFreeBytes)} MB: nothing is accepted`
    return failed(`${text}; ${limit}`, fix)
  }
  if (free < total * FAILED_SHARE) return failed(text, fix)
  return free < total * WARNING_SHARE ? warning(text, fix) : ok(text)
}

function checkInodes(
  folder: string,
  { freeInodes: free, totalInodes: total }: DiskSpace,
): CheckPart {
  // A total of 0 means that the file system makes inodes as it needs them.
  if (total === 0) return skipped(`${folder}: the file system has no fixed number of inodes`)
  const text = `${folder}: ${free} of ${total} inodes free, ${percent(free, total)}`
  const fix = `df -i ${folder}\ndu -x --inodes --max-depth=2 ${folder} | sort -n | tail`
  if (free < total * FAILED_SHARE) return failed(text, fix)
  return free < total * WARNING_SHARE ? warning(text, fix) : ok(text)
}

function megabytes(bytes: number): number {
  return Math.floor(bytes / MIB)
}

function percent(free: number, total: number): string {
  return `${total === 0 ? 0 : Math.floor((free / total) * 100)}%`
}

/**
 * The size of the database's write-ahead log. The server starts the log over when 32 MB of it are
 * used. A log that keeps growing has a reader that does not end: for a while a backup is one.
 * Every read looks into the log, and the log takes the disk's space.
 *
 * A lost log (`recovery/notice-older.ts`) fails until its fence is lifted.
 */
export const walCheck: Check = {
  id: 'wal',
  run: async ({ store }) => {
    const lost = await findLostLogFence(store.read)
    if (lost?.isStanding === 1) return failed(describeLoss(lost), FIX_LOST)
    const bytes = store.walBytes()
    const text = `the write-ahead log has ${Math.floor(bytes / MIB)} MB`
    const fix =
      'End what keeps the database open: a backup that hangs, or another program. If nothing does, restart the server.'
    if (bytes >= WAL_FAILED_BYTES) return failed(text, fix)
    return bytes >= WAL_WARNING_BYTES ? warning(text, fix) : ok(text)
  },
}

function describeLoss({
  setAt,
  newestEventAt,
}: {
  setAt: number
  newestEventAt: number | null
}): string {
  const newest =
    newestEventAt === null
      ? 'the database has no event from before'
      : `the newest event that the database still has is of ${formatSecond(newestEventAt)}`
  return `the write-ahead log was missing at ${formatSecond(setAt)} although the server had not ended cleanly: commits may be lost; ${newest}`
}

/**
 * Checks the integrity of the database. The check reads the whole database, which takes minutes if
 * it is large, so only the command makes the check, with a connection of its own.
 */
export function checkDatabase({ config }: { config: Config }): CheckResult {
  const nativeBinding = nativeBindingPath(config.dataDir)
  const damage = findDamage({ path: config.database.file, nativeBinding })
  const outcome =
    damage.length === 0 ? ok('the database is intact') : failed(damage.join('; '), DATABASE_FIX)
  return toCheckResult('database', outcome)
}

const UNSCHEDULED_MS = 8 * DAY_MS
const BACKUP_FAILED_MS = 28 * DAY_MS

const FIX_UNSCHEDULED =
  'pillarbox backup FILE\nor, in the configuration file:\n[backup]\nevery = "1d"\ndir = "/var/backups/pillarbox"'

const FIX_SCHEDULED = 'pillarbox backup FILE\nand look for the reason in GET /health and the log.'

/**
 * Mail is tried within a second of its due time. A delay of minutes means that some part is too
 * slow.
 */
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

/**
 * Names the place of the backup. This server did not read back a backup that went to standard
 * output.
 */
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
