/**
 * Free space and free inodes of the disks that the server writes to. Where `limits.min_free_bytes` stops
 * the server from accepting, or where 2% are left, the check fails; below 10% it warns.
 */
import path from 'node:path'
import { describeError } from '../../../base/errors.ts'
import { quoteWord } from '../../../config/shell-word.ts'
import type { DiskSpace } from '../../../store/files/disk.ts'
import type { Check, CheckContext } from './check.ts'
import { failed, type Outcome, ok, skipped, warning } from './outcome.ts'
import { combine, type Part } from './parts.ts'

const FAILED_SHARE = 0.02
const WARNING_SHARE = 0.1
const MIB = 1024 * 1024

export const diskSpaceCheck: Check = {
  id: 'disk_space',
  run: (context) => checkFolders(context, (folder, space) => checkSpace(context, folder, space)),
}

export const inodesCheck: Check = {
  id: 'inodes',
  run: (context) => checkFolders(context, checkInodes),
}

async function checkFolders(
  { config, readSpace }: CheckContext,
  check: (folder: string, space: DiskSpace) => Part,
): Promise<Outcome> {
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

function checkSpace({ config }: CheckContext, folder: string, { free, total }: DiskSpace): Part {
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

function checkInodes(folder: string, { freeInodes: free, totalInodes: total }: DiskSpace): Part {
  // A total of 0: the file system makes them as it needs them.
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
