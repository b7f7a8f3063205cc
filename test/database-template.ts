/** A migrated database to copy: to open a copy costs half of what the migrations cost. */
import { rmSync } from 'node:fs'
import { copyFile, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { silentLog } from '../src/log.ts'
import { openStore } from '../src/store/store.ts'

let template: Promise<string> | undefined

/** Puts a database without rows at `file`, whose folder is there. */
export async function copyDatabase(file: string): Promise<void> {
  template ??= makeTemplate()
  await copyFile(await template, file)
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
