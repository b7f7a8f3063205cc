/**
 * The size of the database's write-ahead log. The server starts the log over when 32 MB of it are used.
 * A log that keeps growing has a reader that does not end: for a while a backup is one. Every read looks
 * into the log, and it takes the disk's space.
 *
 * A log that was lost (`recovery/notice-lost-log.ts`) fails until the fence is lifted that was set for it.
 */
import { formatSecond } from '../../../base/clock.ts'
import { findLostLogFence } from '../../ground/fence/rows.ts'
import type { Check } from './check.ts'
import { failed, ok, warning } from './outcome.ts'

const MIB = 1024 * 1024
/** More than a busy server needs, and than it writes beside a backup of minutes. */
const WARNING_BYTES = 1024 * MIB
/** More than it writes beside a backup of an hour. */
const FAILED_BYTES = 4096 * MIB

export const walCheck: Check = {
  id: 'wal',
  run: async ({ store }) => {
    const lost = await findLostLogFence(store.read)
    if (lost?.isStanding === 1) return failed(describeLoss(lost), FIX_LOST)
    const bytes = store.walBytes()
    const text = `the write-ahead log has ${Math.floor(bytes / MIB)} MB`
    const fix =
      'End what keeps the database open: a backup that hangs, or another program. If nothing does, restart the server.'
    if (bytes >= FAILED_BYTES) return failed(text, fix)
    return bytes >= WARNING_BYTES ? warning(text, fix) : ok(text)
  },
}

const FIX_LOST =
  'Let the senders look for what the server has accepted and does not know any more. Look at what is held (pillarbox queue holds), cancel what was sent already, and let the rest go: pillarbox queue release --restored'

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
