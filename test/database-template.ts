/** A migrated database to copy: to open a copy costs a fraction of what the migrations cost. */
import { createHash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { copyFile } from 'node:fs/promises'
import path from 'node:path'
import { silentLog } from '../src/log.ts'
import { openStore } from '../src/store/store.ts'

const root = path.join(import.meta.dirname, '..')
/** Kept between processes and runs. */
const folder = path.join(root, 'node_modules', '.cache', 'pillarbox-tests', 'databases')
/** Whatever decides what a new database holds. */
const SOURCES = ['migrations/sqlite/*.sql', 'src/store/*.ts', 'package.json']

let template: Promise<string> | undefined

/** Puts a database without rows at `file`, whose folder is there. */
export async function copyDatabase(file: string): Promise<void> {
  template ??= findTemplate()
  await copyFile(await template, file)
}

/** The first process that needs one makes the template of these sources, or several do at a time. */
async function findTemplate(): Promise<string> {
  const file = path.join(folder, `${digestSources()}.db`)
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  const own = mkdtempSync(path.join(folder, 'new-'))
  const made = path.join(own, 'template.db')
  const store = await openStore({ path: made, log: silentLog(), watch: false })
  await store.close()
  renameSync(made, file)
  rmSync(own, { recursive: true })
  return file
}

function digestSources(): string {
  const digest = createHash('sha256')
  for (const name of globSync(SOURCES, { cwd: root }).sort()) {
    digest
      .update(`${name}\0`)
      .update(readFileSync(path.join(root, name)))
      .update('\0')
  }
  return digest.digest('hex').slice(0, 32)
}
