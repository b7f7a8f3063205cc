/** A migrated database to copy: to open a copy costs half of what the migrations cost. */
import { existsSync, rmSync } from 'node:fs'
import { copyFile, mkdtemp, rename } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { silentLog } from '../src/base/log.ts'
import { openStore } from '../src/store/store.ts'

let template: Promise<string> | undefined

/** Puts a database without rows at `file`, whose folder is there. */
export async function copyDatabase(file: string): Promise<void> {
  template ??= findTemplate()
  await copyFile(await template, file)
}

/** Beside the bundled program, if there is one, for all processes of a run; the first one makes it. */
async function findTemplate(): Promise<string> {
  if (process.env.TEST_PROGRAM === undefined) return makeTemplate()
  const shared = path.join(process.env.TEST_PROGRAM, '../../template.db')
  if (existsSync(shared)) return shared
  const own = `${shared}.${process.pid}`
  await copyFile(await makeTemplate(), own)
  await rename(own, shared)
  return shared
}

/** One for the process, which removes it at its end. */
async function makeTemplate(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-template-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const file = path.join(folder, 'template.db')
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  await store.close()
  return file
}
