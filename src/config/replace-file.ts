/**
 * Replaces a file, or makes it, with mode 600. After a crash it holds the old or the new text, never a
 * part of one. The folder must exist.
 */
import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { syncFolder } from './sync-folder.ts'

/** The end of the name of a file that is being written. A crash may leave one behind. */
export const UNFINISHED = '.unfinished'

export async function replaceFile(file: string, text: string): Promise<void> {
  const fresh = `${file}.${randomBytes(8).toString('hex')}${UNFINISHED}`
  try {
    await writeDurably(fresh, text)
    await rename(fresh, file)
  } catch (error) {
    await rm(fresh, { force: true })
    throw error
  }
  await syncFolder(path.dirname(file))
}

/** Makes a file with mode 600. @throws EEXIST when the file exists */
export async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
