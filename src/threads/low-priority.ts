import { existsSync, readlinkSync } from 'node:fs'
import { setPriority } from 'node:os'
import path from 'node:path'

const LOW_PRIORITY = 10

/**
 * Of the calling thread. Linux knows threads by ids of their own, and gives each a priority; a bare
 * root has no /proc.
 */
export function lowerPriority(): void {
  if (!existsSync('/proc/thread-self')) return
  const threadId = Number(path.basename(readlinkSync('/proc/thread-self')))
  setPriority(threadId, LOW_PRIORITY)
}
