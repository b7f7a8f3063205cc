import { existsSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'

const LOW_PRIORITY = 10

/**
 * Lowers the priority of the calling thread, on Linux only: there each thread has its own id and
 * priority. Does nothing without /proc.
 */
export function lowerPriority(): void {
  if (!existsSync('/proc/thread-self')) return
  const threadId = Number(path.basename(readlinkSync('/proc/thread-self')))
  setPriority(threadId, LOW_PRIORITY)
}
