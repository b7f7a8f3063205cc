/**
 * Builds executables. pkg puts the program and assets as one blob into a copy of the pinned Node; its main file
 * unpacks the program (`entry.ts`). pkg's `--sea` mode is used because the other mode needs a home folder at the
 * start, which a service user does not have. The program reads its assets through `src/config/assets.ts`.
 *
 * The same commit and lockfile give the same bytes on the same machine, in any folder, except for `serve.cache`
 * of the executable for the platform of the build. It holds the functions that a start has run by then, numbered in the
 * order of their compilation, and padding that V8 leaves as it was: timers and threads decide. Flags that prevent this
 * make a cache that V8 refuses without them. `strip` of another version writes other bytes, too.
 */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import pkg from '@yao-pkg/pkg/lib-es5/sea.js'
import { nodeVersion, runtimeFlags, stagingFolder, type Target } from '../../build.config.ts'
import { ADDON_ASSET } from '../../src/config/addon.ts'
import { ASSET_SOURCES, assetSource, listAssets } from '../../src/config/assets.ts'
import { THREAD_SOURCES } from '../../src/threads/start.ts'
import { findBaseNode } from '../base-node.ts'
import { bundle } from '../bundle.ts'
import { buildDashboard } from '../dashboard/build.ts'
import { packProgram } from './pack-program.ts'

const run = promisify(execFile)

/** The order of V8's tables depends on this seed. It is not among the flags that a cache is valid for. */
const SEED_FLAG = '--random-seed=1'

/** Writes the executables of these targets into `folder`. The working folder must be the repository's root. */
export async function buildExecutables(wanted: readonly Target[], folder: string): Promise<void> {
  if (process.version !== `v${nodeVersion}`) {
    throw new Error(`build with Node ${nodeVersion} (npm run build), not ${process.version}`)
  }
  await mkdir(folder, { recursive: true })
  await mkdir(stagingFolder, { recursive: true })
  await buildDashboard()
  await bundle(stagingFolder)
  await compressProgram()
  for (const target of wanted) await buildTarget(target, folder)
}

async function buildTarget(target: Target, folder: string): Promise<void> {
  const startedAt = performance.now()
  const output = path.resolve(folder, target.output)
  await placeBaseNode(target)
  placeTemporaryFiles()
  const [platform, arch] = target.name.split('-') as [string, string]
  const made = { nodeRange: `node${nodeVersion}`, platform, arch, output }
  await pkg.default(path.resolve(stagingFolder, 'entry.cjs'), {
    targets: [made as never],
    seaConfig: await blobSettings(target),
  })
  await rewrite(output)
  const megabytes = ((await stat(output)).size / 1e6).toFixed(1)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${folder}/${target.output}  ${megabytes} MB  ${seconds} s`)
}

/**
 * Writes the file again in one go, as a copy or a download does. As pkg leaves it in the page cache, in
 * pieces, 20 MB more of it are resident in each process on this machine until the next boot.
 */
async function rewrite(file: string): Promise<void> {
  await copyFile(file, `${file}.new`)
  await rename(`${file}.new`, file)
}

/** Puts the runtime where pkg looks for it before a download, below a temporary home folder. */
async function placeBaseNode(target: Target): Promise<void> {
  process.env.HOME = path.resolve(stagingFolder, 'home')
  process.env.USERPROFILE = process.env.HOME
  const isWindows = target.name.startsWith('win')
  const cache = path.join(process.env.HOME, '.pkg-cache/sea')
  const name = `node-v${nodeVersion}-${target.name}`
  const node = path.join(cache, isWindows ? `${name}.exe` : `${name}/bin/node`)
  await mkdir(path.dirname(node), { recursive: true })
  await copyFile(await findBaseNode(target, stagingFolder), node)
  await chmod(node, 0o755)
  await strip(node)
  const archive = path.join(cache, `${name}.${isWindows ? 'zip' : 'tar.gz'}`)
  for (const file of [archive, `${archive}.ok`, `${node}.ok`]) await writeFile(file, '')
}

/** Lets pkg work in a folder of the staging folder, so that `main` of the blob is the same in every repository. */
function placeTemporaryFiles(): void {
  process.env.TMPDIR = path.resolve(stagingFolder)
  process.env.TEMP = process.env.TMPDIR
}

/** The blob: the main file, the program's code, its assets and the code of its threads. */
async function blobSettings(target: Target) {
  const files: Record<string, string> = {
    [ADDON_ASSET]: path.resolve('node_modules/better-sqlite3/prebuilds', target.addon),
  }
  const names = Object.keys(ASSET_SOURCES).flatMap((name) =>
    name.endsWith('/') ? listAssets(name.slice(0, -1)) : name,
  )
  for (const name of names) files[name] = assetSource(name)
  for (const name of Object.keys(THREAD_SOURCES)) {
    files[`${name}.cjs`] = path.resolve(stagingFolder, `${name}.cjs`)
  }
  files['main.cjs.zst'] = path.resolve(stagingFolder, 'main.cjs.zst')
  // A code cache is valid only on the platform that made it.
  if (target.name === `${process.platform}-${process.arch}`) {
    Object.assign(files, await makeCodeCaches(files))
  }
  const settings = { disableExperimentalSEAWarning: true, useSnapshot: false, useCodeCache: false }
  // Node writes the path of the main file into the blob.
  return { ...settings, main: '../entry.cjs', execArgv: runtimeFlags, assets: files }
}

async function compressProgram(): Promise<void> {
  const program = path.join(stagingFolder, 'main.cjs')
  await writeFile(`${program}.zst`, packProgram(await readFile(program)))
}

async function makeCodeCaches(assets: Record<string, string>): Promise<Record<string, string>> {
  const folder = path.resolve(stagingFolder)
  const files = [path.join(folder, 'main.cjs'), folder, JSON.stringify(assets)]
  for (const [task, ...flags] of [['make', SEED_FLAG], ['check']] as const) {
    const warm = path.resolve('scripts/executable/warm.ts')
    const argv = [...runtimeFlags, ...flags, warm, task, ...files]
    await run(process.execPath, argv, { timeout: 60_000 })
  }
  const names = ['command.cache', 'serve.cache']
  return Object.fromEntries(names.map((name) => [name, path.join(folder, name)]))
}

/** Drops the symbol table (a seventh of a Linux Node) if a suitable `strip` is installed. */
async function strip(file: string): Promise<void> {
  if (file.endsWith('.exe')) return
  try {
    await run('strip', [file])
  } catch {
    console.log(`${file}: symbols kept, no strip for it on this machine`)
  }
}
