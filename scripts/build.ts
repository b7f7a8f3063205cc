/**
 * `npm run build` makes `dist/pillarbox-linux-x64`, `npm run build -- --all` every target of
 * build.config.ts: bundled code and assets in one blob, which pkg puts into a copy of the pinned
 * Node (its plain `--sea` road; the other one asks for a home folder before our first line, and a
 * service user has none). What the executable carries is read through `src/config/assets.ts`.
 */
import { execFile } from 'node:child_process'
import { chmod, copyFile, mkdir, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import pkg from '@yao-pkg/pkg/lib-es5/sea.js'
import {
  assets,
  defaultTarget,
  nodeVersion,
  outputFolder,
  runtimeFlags,
  stagingFolder,
  type Target,
  targets,
} from '../build.config.ts'
import { addonAsset, assetSource, listAssets, threadSources } from '../src/config/assets.ts'
import { findBaseNode } from './base-node.ts'
import { bundle } from './bundle.ts'

const run = promisify(execFile)

process.chdir(path.join(import.meta.dirname, '..'))
await buildTargets(process.argv.includes('--all') ? targets : targets.filter(isDefault))

function isDefault({ name }: Target): boolean {
  return name === defaultTarget
}

async function buildTargets(wanted: Target[]): Promise<void> {
  if (process.version !== `v${nodeVersion}`) {
    throw new Error(`build with Node ${nodeVersion} (npm run build), not ${process.version}`)
  }
  await rm(outputFolder, { recursive: true, force: true })
  await mkdir(outputFolder)
  await mkdir(stagingFolder, { recursive: true })
  await bundle(stagingFolder)
  for (const target of wanted) await buildTarget(target)
}

async function buildTarget(target: Target): Promise<void> {
  const startedAt = performance.now()
  const output = path.resolve(outputFolder, target.output)
  await shelveBaseNode(target)
  const [platform, arch] = target.name.split('-') as [string, string]
  const made = { nodeRange: `node${nodeVersion}`, platform, arch, output }
  await pkg.default(path.resolve(stagingFolder, 'main.cjs'), {
    targets: [made as never],
    seaConfig: blobSettings(target),
  })
  const megabytes = ((await stat(output)).size / 1e6).toFixed(1)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${outputFolder}/${target.output}  ${megabytes} MB  ${seconds} s`)
}

/** Lays the runtime where pkg looks before it would download one, below a home folder of our own. */
async function shelveBaseNode(target: Target): Promise<void> {
  process.env.HOME = path.resolve(stagingFolder, 'home')
  process.env.USERPROFILE = process.env.HOME
  const isWindows = target.name.startsWith('win')
  const shelf = path.join(process.env.HOME, '.pkg-cache/sea')
  const name = `node-v${nodeVersion}-${target.name}`
  const node = path.join(shelf, isWindows ? `${name}.exe` : `${name}/bin/node`)
  await mkdir(path.dirname(node), { recursive: true })
  await copyFile(await findBaseNode(target, stagingFolder), node)
  await chmod(node, 0o755)
  await strip(node)
  const archive = path.join(shelf, `${name}.${isWindows ? 'zip' : 'tar.gz'}`)
  for (const mark of [archive, `${archive}.ok`, `${node}.ok`]) await writeFile(mark, '')
}

/** The program's code and everything that `readAsset` and threads look for. */
function blobSettings(target: Target) {
  const files: Record<string, string> = {
    [addonAsset]: path.resolve('node_modules/better-sqlite3/prebuilds', target.addon),
  }
  const names = assets.flatMap((name) =>
    name.endsWith('/') ? listAssets(name.slice(0, -1)) : name,
  )
  for (const name of names) files[name] = assetSource(name)
  for (const name of Object.keys(threadSources)) {
    files[`${name}.cjs`] = path.resolve(stagingFolder, `${name}.cjs`)
  }
  // Compiled code only fits the machine that compiled it.
  const useCodeCache = target.name === `${process.platform}-${process.arch}`
  const settings = { disableExperimentalSEAWarning: true, useSnapshot: false, useCodeCache }
  return { ...settings, execArgv: runtimeFlags, assets: files }
}

/** Drops the symbol table, a seventh of a Linux Node, where a fitting `strip` is at hand. */
async function strip(file: string): Promise<void> {
  if (file.endsWith('.exe')) return
  try {
    await run('strip', [file])
  } catch {
    console.log(`${file}: symbols kept, no strip for it on this machine`)
  }
}
