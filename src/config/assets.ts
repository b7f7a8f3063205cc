/**
 * What the program carries besides its code: migrations, files of the API page, the code of worker
 * threads, the SQLite addon. From source these are files of the repository; the executable holds
 * them inside itself, where no path leads, so they are read by name. Nothing is read before it is
 * asked for. `asset-sources.ts` lists them.
 */
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { sourcePath } from './asset-sources.ts'

export type ThreadName = 'scan' | 'delivery' | 'composing' | 'submission' | 'reader'

/** The entry file of each worker thread in the repository. */
export const threadSources: Record<ThreadName, string> = {
  scan: 'src/store/read/scan-thread.ts',
  delivery: 'src/outbound/thread/delivery-thread.ts',
  composing: 'src/outbound/composing/composing-thread.ts',
  reader: 'src/inbound/reader-thread.ts',
  submission: 'src/inbound/submission-thread.ts',
}

/** The name under which the executable carries the SQLite addon. */
export const addonAsset = 'better_sqlite3.node'

/** The bytes of one asset. An unknown name throws: asking for it is a mistake of ours. */
export function readAsset(name: string): Buffer {
  return sea.isSea() ? embedded(name) : readFileSync(assetSource(name))
}

/** The names of the assets in `folder`, sorted, each ready for `readAsset`. */
export function listAssets(folder: string): string[] {
  const prefix = `${folder}/`
  if (sea.isSea()) {
    const keys = sea.getAssetKeys().filter((key) => key.startsWith(prefix))
    return keys.sort()
  }
  const files = readdirSync(assetSource(folder), { withFileTypes: true })
  const names = files.filter((entry) => entry.isFile()).map((entry) => prefix + entry.name)
  return names.sort()
}

/** Where the repository keeps an asset or a folder of them. */
export function assetSource(name: string): string {
  return path.join(import.meta.dirname, '..', '..', ...sourcePath(name).split('/'))
}

/** Starts a worker thread; the caller waits for its messages and terminates it. */
export function startThread(name: ThreadName, options: WorkerOptions = {}): Worker {
  if (!sea.isSea()) return new Worker(assetSource(threadSources[name]), { name, ...options })
  // The last line is what stack traces call it.
  const code = `${embedded(`${name}.cjs`).toString('utf8')}\n//# sourceURL=${name}.cjs`
  return new Worker(code, { name, ...options, eval: true })
}

/** The version of this program, as in its package.json. */
export function productVersion(): string {
  const { version } = JSON.parse(readAsset('package.json').toString('utf8'))
  return version
}

/**
 * The SQLite addon as a file, for the `nativeBinding` option of better-sqlite3; undefined from
 * source, where that package finds its own. Only files can be loaded, and a service account has no
 * home folder, so it lies in `<dataDir>/runtime/<sha256>/`. What stands there is compared with what
 * the executable carries on every start and replaced when it differs.
 */
export function nativeBindingPath(dataDir: string): string | undefined {
  if (!sea.isSea()) return undefined
  return unpackAddon(dataDir, embedded(addonAsset))
}

/** The part of `nativeBindingPath` that needs no executable. `dataDir` is made if need be. */
export function unpackAddon(dataDir: string, addon: Buffer): string {
  const digest = createHash('sha256').update(addon).digest('hex')
  const folder = path.resolve(dataDir, 'runtime', digest)
  const file = path.join(folder, addonAsset)
  if (holds(file, addon)) return file
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fresh = `${file}.${process.pid}`
  writeFileSync(fresh, addon, { mode: 0o600 })
  try {
    renameSync(fresh, file)
  } catch (error) {
    rmSync(fresh, { force: true })
    // On Windows a file in use cannot be replaced: another process was first with the same bytes.
    if (!holds(file, addon)) throw error
  }
  return file
}

function holds(file: string, bytes: Buffer): boolean {
  return existsSync(file) && readFileSync(file).equals(bytes)
}

/** A view of the executable's own memory, not a copy: never written to. */
function embedded(name: string): Buffer {
  return Buffer.from(sea.getRawAsset(name) as ArrayBuffer)
}
