/** The SQLite addon, which is embedded in the executable. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'
import { readAsset } from './assets.ts'

/** The name of the SQLite addon inside the executable. */
export const ADDON_ASSET = 'better_sqlite3.node'

/**
 * Returns the path of the SQLite addon, for the `nativeBinding` option of better-sqlite3; undefined
 * from source, where that package finds its own. Only files can be loaded, and a service account has
 * no home folder, so the addon is unpacked to `<dataDir>/runtime/<sha256>/`. Every start compares the
 * file with the one inside the executable and replaces it if they differ.
 */
export function nativeBindingPath(dataDir: string): string | undefined {
  if (!sea.isSea()) return undefined
  return unpackAddon(dataDir, readAsset(ADDON_ASSET))
}

/** Unpacks `addon` as `nativeBindingPath` says. Creates `dataDir` if it does not exist. */
export function unpackAddon(dataDir: string, addon: Buffer): string {
  const digest = createHash('sha256').update(addon).digest('hex')
  const folder = path.resolve(dataDir, 'runtime', digest)
  const file = path.join(folder, ADDON_ASSET)
  if (holds(file, addon)) return file
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fresh = `${file}.${process.pid}`
  writeFileSync(fresh, addon, { mode: 0o600 })
  try {
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    // On Windows a file in use cannot be replaced: another process has written the same bytes first.
    if (!holds(file, addon)) throw error
  }
  return file
}

function holds(file: string, bytes: Buffer): boolean {
  return existsSync(file) && readFileSync(file).equals(bytes)
}
