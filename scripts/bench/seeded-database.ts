/**
 * The cache of the seeded database, in node_modules. The database is built once a week, and whenever
 * its tables or its seeding code have changed. Benchmarks work on copies.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  globSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import path from 'node:path'
import { buildDatabase } from './seeding/database.ts'
import { fullSize, type Plan, type Size, startOfWeek } from './seeding/plan.ts'
import { showProgress } from './seeding/progress.ts'

const root = path.join(import.meta.dirname, '../..')
const cacheFolder = path.join(root, 'node_modules/.cache/bench')

/** Returns the file of the seeded database of this size; builds it if there is none of this week. */
export async function prepareDatabase(size: Size = fullSize): Promise<string> {
  const plan = { ...size, at: startOfWeek(Date.now()) }
  const name = `seeded-${plan.emails}`
  const file = path.join(cacheFolder, `${name}-${fingerprint(plan)}.db`)
  if (existsSync(file)) return file
  const folder = path.join(cacheFolder, `building-${process.pid}`)
  for (const old of globSync(path.join(cacheFolder, `${name}-*`))) rmSync(old)
  try {
    renameSync(await buildDatabase(folder, plan, showProgress()), file)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return file
}

/**
 * Copies the database to the place that a benchmark's configuration names. The copy is synced before
 * this returns, because gigabytes of unwritten data would delay every commit.
 */
export function copyDatabase(file: string, target: string): void {
  mkdirSync(path.dirname(target), { recursive: true, mode: 0o700 })
  execFileSync('cp', ['--reflink=auto', file, target])
  const copy = openSync(target, 'r+')
  fsyncSync(copy)
  closeSync(copy)
}

/** A digest of everything that determines the contents of the database. */
function fingerprint(plan: Plan): string {
  const sources = globSync(['migrations/sqlite/*.sql', 'scripts/bench/seeding/*.ts'], { cwd: root })
  const hash = createHash('sha256').update(JSON.stringify(plan))
  for (const name of sources.sort()) hash.update(readFileSync(path.join(root, name)))
  return hash.digest('hex').slice(0, 12)
}
