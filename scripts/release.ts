/**
 * `npm run release -- VERSION [--targets linux-x64,…]` makes `dist/release/VERSION`: the executables of all targets,
 * `SHA256SUMS`, a bill of materials, and `bundle.sha256` with the checksums of the bundled code. It sets the version
 * in package.json and package-lock.json, commits both, and prints the command that tags the commit. It pushes nothing.
 *
 * The same commit and lockfile give the same bytes on the same machine, except for the executable of the platform of
 * the build, which has a cache of compiled code: V8 writes into it what a start has run at that moment
 * (`executable/build-executables.ts`), and it spares a fifth of a start. For this executable `bundle.sha256` holds: the code
 * in it is the same.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { nodeVersion, outputFolder, stagingFolder, type Target, targets } from '../build.config.ts'
import { THREAD_SOURCES } from '../src/threads/start.ts'
import { findBaseNode } from './base-node.ts'
import { buildExecutables } from './executable/build-executables.ts'
import { findNotes } from './release/changelog.ts'
import { sumFiles } from './release/checksums.ts'
import { makeSbom } from './release/sbom.ts'
import { isVersion, setVersion } from './release/set-version.ts'

const CHANGELOG = 'src/docs/changelog.md'
const CODE = ['main.cjs', 'entry.cjs', ...Object.keys(THREAD_SOURCES).map((name) => `${name}.cjs`)]

process.chdir(path.join(import.meta.dirname, '..'))
try {
  await release(readArguments())
} catch (error) {
  console.error(`release: ${error instanceof Error ? error.message : String(error)}`)
  process.exitCode = 1
}

async function release({ version, wanted }: { version: string; wanted: Target[] }): Promise<void> {
  const notes = findNotes(readFileSync(CHANGELOG, 'utf8'), version)
  requireCleanTree()
  requireFreeTag(version)
  await requireRuntimes(wanted)
  await commitVersion(version)
  const folder = path.join(outputFolder, 'release', version)
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  await buildExecutables(wanted, folder)
  const sbom = `pillarbox-${version}.cdx.json`
  const [hash = '', time = ''] = git('log', '-1', '--format=%H %cI').split(' ')
  const bill = makeSbom(JSON.parse(readFileSync('package-lock.json', 'utf8')), {
    ...{ hash, time: new Date(time).toISOString() },
  })
  await writeFile(path.join(folder, sbom), `${JSON.stringify(bill, null, 2)}\n`)
  await writeFile(path.join(folder, 'bundle.sha256'), await sumFiles(stagingFolder, CODE))
  const files = [...wanted.map(({ output }) => output), sbom, 'bundle.sha256']
  await writeFile(path.join(folder, 'SHA256SUMS'), await sumFiles(folder, files))
  console.log(`\n${notes}\n\n${folder} is made of commit ${hash}. To tag it:`)
  console.log(`  git tag -a v${version} -m 'Pillarbox ${version}' ${hash}`)
}

function readArguments(): { version: string; wanted: Target[] } {
  const options = { targets: { type: 'string' } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const [version = '', ...others] = positionals
  if (!isVersion(version) || others.length > 0) {
    throw new Error('usage: npm run release -- VERSION [--targets linux-x64,linux-arm64,win-x64]')
  }
  const names = values.targets?.split(',') ?? targets.map(({ name }) => name)
  const wanted = names.map((name) => {
    const target = targets.find((each) => each.name === name)
    if (target === undefined) throw new Error(`unknown target: ${name}`)
    return target
  })
  return { version, wanted }
}

function requireCleanTree(): void {
  const changes = git('status', '--porcelain')
  if (changes !== '') throw new Error(`the tree has changes that are not committed:\n${changes}`)
}

/** A tag of the version may exist if it names the present commit: then the release is made again. */
function requireFreeTag(version: string): void {
  const tag = `v${version}`
  if (git('tag', '--list', tag) === '') return
  if (git('rev-parse', `${tag}^{commit}`) !== git('rev-parse', 'HEAD')) {
    throw new Error(`the tag ${tag} names another commit`)
  }
}

async function requireRuntimes(wanted: readonly Target[]): Promise<void> {
  await mkdir(stagingFolder, { recursive: true })
  for (const target of wanted) {
    const name = `${target.nodePackage}@${nodeVersion}`
    await findBaseNode(target, stagingFolder).catch((cause: Error) => {
      const reason = cause.message.trim().split('\n').at(-1)
      throw new Error(`no ${name} for ${target.name}: ${reason}\n--targets leaves a target out`)
    })
  }
}

async function commitVersion(version: string): Promise<void> {
  const [packageJson, lock] = ['package.json', 'package-lock.json'].map((file) =>
    readFileSync(file, 'utf8'),
  ) as [string, string]
  const next = setVersion({ packageJson, lock }, version)
  if (next.packageJson === packageJson && next.lock === lock) return
  await writeFile('package.json', next.packageJson)
  await writeFile('package-lock.json', next.lock)
  git('commit', '--quiet', '--all', '--message', `chore: release ${version}`)
}

function git(...argv: string[]): string {
  return execFileSync('git', argv, { encoding: 'utf8' }).trim()
}
