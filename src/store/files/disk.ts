/**
 * How much room the disk of the database has. Below `limits.min_free_bytes` nothing more is taken
 * in, while sending, deleting and reading go on: what is left is for the outcomes of mail. Twenty in
 * a hundred more than the limit must be free before anything is taken again, so that a log that
 * grows and shrinks does not open and close the doors.
 */
import { statfs } from 'node:fs/promises'
import type { Health } from '../../health.ts'
import type { Log } from '../../log.ts'

/** In bytes; `free` is what our user may have. */
export type DiskSpace = { free: number; total: number }

export type Disk = {
  /** Whether nothing that makes the database grow may be taken. */
  isLow(): boolean
  /** At the last look; null when the system does not tell. */
  freeBytes(): number | null
  stop(): void
}

export type DiskOptions = {
  /** The folder of the database. */
  folder: string
  /** 0 = no limit. */
  minFreeBytes: number
  health: Pick<Health, 'report'>
  log: Log
  everyMs?: number
  /** For tests. */
  read?: (folder: string) => Promise<DiskSpace>
}

/** In two seconds large attachments could fill all of the reserve. */
const EVERY_MS = 250
/** Of the whole disk. */
const SCARCE_SHARE = 0.05
const RELIEF = 1.2

/** For who takes nothing in. */
export const roomyDisk: Disk = {
  isLow: () => false,
  freeBytes: () => null,
  stop: () => undefined,
}

/** It has looked once when it resolves. */
export async function watchDisk(options: DiskOptions): Promise<Disk> {
  const { folder, minFreeBytes, health, log, everyMs = EVERY_MS, read = readSpace } = options
  let space: DiskSpace | null = null
  let isLow = false
  let isScarce = false

  async function look(): Promise<void> {
    try {
      space = await read(folder)
    } catch (error) {
      log.warn({ error }, 'the free space of the disk cannot be read')
      return
    }
    const { free, total } = space
    const wasLow = isLow
    isLow = free < minFreeBytes * (isLow ? RELIEF : 1)
    isScarce = free < total * SCARCE_SHARE * (isScarce ? RELIEF : 1)
    health.report('disk', reasonOf(space))
    if (isLow && !wasLow) {
      const facts = { folder, freeBytes: free, minFreeBytes }
      log.error(facts, 'the disk is nearly full: nothing more is taken in')
    }
    if (wasLow && !isLow) log.warn({ folder, freeBytes: free }, 'the disk has room again')
  }

  function reasonOf({ free, total }: DiskSpace): string | null {
    const room = `${toMegabytes(free)} MB of the disk of ${folder} are free`
    if (isLow) {
      const limit = toMegabytes(minFreeBytes)
      return `Only ${room}, and limits.min_free_bytes is ${limit} MB: nothing more is taken in, mail is still sent.`
    }
    return isScarce ? `Only ${room}, ${Math.floor((free / total) * 100)}% of it.` : null
  }

  await look()
  let isLooking = false
  const timer = setInterval(() => {
    if (isLooking) return
    isLooking = true
    void look().finally(() => {
      isLooking = false
    })
  }, everyMs).unref()
  return {
    isLow: () => isLow,
    freeBytes: () => space?.free ?? null,
    stop: () => clearInterval(timer),
  }
}

async function readSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free: bavail * bsize, total: blocks * bsize }
}

function toMegabytes(bytes: number): number {
  return Math.floor(bytes / (1024 * 1024))
}
