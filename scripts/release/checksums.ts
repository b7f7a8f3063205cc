/** Checksums in the form that `sha256sum --check` reads. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** Returns a line for each of these files of the folder, by name. */
export async function sumFiles(folder: string, names: readonly string[]): Promise<string> {
  const lines: string[] = []
  for (const name of names.toSorted()) {
    lines.push(`${hash('sha256', await readFile(path.join(folder, name)), 'hex')}  ${name}\n`)
  }
  return lines.join('')
}
