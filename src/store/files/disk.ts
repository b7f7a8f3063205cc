/**
 * Watches the free space of the database's disk. Below `limits.min_free_bytes` the server accepts
 * nothing more, while sending, deleting and reading go on: the rest of the space is for the
 * outcomes of mail. The server accepts again when 20% more than the limit is free, so that a log
 * that grows and shrinks does not switch the server back and forth.
 */
import { statfs } from 'node:fs/promises'
import type { Health } from '../../base/health.ts'
import type { Log } from '../../base/log.ts'
import type { Store } from '../store.ts'

/** Bytes and inodes; `free` ones are those that the server's user may take. */
export type DiskSpace = {
  free: number
  total: number
  freeInodes: number
  totalInodes: number
}

export type Disk = {
  /** Whether writes that make the database grow are refused. */
  isLow(): boolean
  /** The space at the last check; null while the system does not report it. */
  space(): DiskSpace | null
  stop(): void
}

type DiskOptions = {
  /** The folder of the database. */
  folder: string
  /** The free bytes below which the server accepts nothing more; 0 = no limit. */
  minFreeBytes: number
  health: Pick<Health, 'set'>
  log: Log
  everyMs?: number
  /** Tells of commits, after which the next check comes soon. */
  onCommit?: Store['onCommit']
  /** Reads the space of the disk; for tests. */
  read?: (folder: string) => Promise<DiskSpace>
}

/**
 * The time between two checks. A disk may become full without commits, because other programs use it, too.
 */
const EVERY_MS = 2_000
/**
 * The time from a commit to the next check: large attachments could fill the whole reserve within two
 * seconds.
 */
const AFTER_COMMIT_MS = 250
/** The share of the disk below which health is degraded. */
const SCARCE_SHARE = 0.05
const RECOVERY_FACTOR = 1.2

/** A disk that is never low: for processes that accept nothing. */
export const unwatchedDisk: Disk = {
  isLow: () => false,
  space: () => null,
  stop: () => undefined,
}

/** Starts the watch. Resolves after the first check. */
export async function watchDisk(options: DiskOptions): Promise<Disk> {
  const { folder, minFreeBytes, health, log, everyMs = EVERY_MS, read = readSpace } = options
  let space: DiskSpace | null = null
  let isLow = false
  let isScarce = false

  async function refresh(): Promise<void> {
    try {
      space = await read(folder)
    } catch (error) {
      log.warn({ error }, 'the free space of the disk cannot be read')
      return
    }
    const { free, total } = space
    const wasLow = isLow
    isLow = free < minFreeBytes * (isLow ? RECOVERY_FACTOR : 1)
    isScarce = free < total * SCARCE_SHARE * (isScarce ? RECOVERY_FACTOR : 1)
    health.set('disk', reasonOf(space))
    if (isLow && !wasLow) {
      const facts = { folder, freeBytes: free, minFreeBytes }
      log.error(facts, 'the disk is nearly full: no new data is accepted')
    }
    if (wasLow && !isLow)
      log.warn({ folder, freeBytes: free }, 'the disk has enough free space again')
  }

  function reasonOf({ free, total }: Pick<DiskSpace, 'free' | 'total'>): string | null {
    const freeSpace = `${toMegabytes(free)} MB of the disk of ${folder} are free`
    if (isLow) {
      const limit = toMegabytes(minFreeBytes)
      return `Only ${freeSpace}, and limits.min_free_bytes is ${limit} MB: no new data is accepted; mail is still sent.`
    }
    return isScarce ? `Only ${freeSpace}, ${Math.floor((free / total) * 100)}% of it.` : null
  }

  await refresh()
  let isRefreshing = false
  function check(): void {
    if (isRefreshing) return
    isRefreshing = true
    void refresh().finally(() => {
      isRefreshing = false
    })
  }

  let soon: NodeJS.Timeout | undefined
  const timer = setInterval(check, everyMs).unref()
  const unlisten = options.onCommit?.(() => {
    soon ??= setTimeout(() => {
      soon = undefined
      check()
    }, AFTER_COMMIT_MS).unref()
  })
  return {
    isLow: () => isLow,
    space: () => space,
    stop() {
      unlisten?.()
      clearInterval(timer)
      clearTimeout(soon)
    },
  }
}

export async function readSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(folder)
  return { free: bavail * bsize, total: blocks * bsize, freeInodes: ffree, totalInodes: files }
}

function toMegabytes(bytes: number): number {
  return Math.floor(bytes / (1024 * 1024))
}
