/** The files of scheduled backups in `backup.dir`. Files with other names are never touched. */
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { formatInstant } from '../../../../base/clock.ts'

const NAME = /^pillarbox-\d{8}T\d{6}Z\.tar\.zst$/

/** `pillarbox-20261126T150000Z.tar.zst` */
export function nameOf(at: number): string {
  const [seconds = ''] = formatInstant(at).split('.')
  return `pillarbox-${seconds.replaceAll(/[-:]/g, '')}Z.tar.zst`
}

/**
 * Deletes the oldest beyond `keep`. `newest`: the name of the backup that was just made; those with later
 * names are of a clock that was ahead, and count as the oldest. Returns the names.
 */
export async function deleteOldest(
  folder: string,
  { keep, newest }: { keep: number; newest: string },
): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && NAME.test(entry.name))
  const names = files.map(({ name }) => name).sort()
  const isAhead = (name: string) => name > newest
  const byAge = [...names.filter(isAhead), ...names.filter((name) => !isAhead(name))]
  const oldest = byAge.slice(0, -keep)
  for (const name of oldest) await rm(path.join(folder, name), { force: true })
  return oldest
}
