/** The files of `data_dir` that belong into a backup besides the database: images, lists, certificates. */
import { createReadStream, type Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { hasCode } from '../../../errors.ts'
import { ENTRY } from '../archive/manifest.ts'

export type DataFile = { entry: string; file: string }

/** Folders without secrets. */
const OPEN_FOLDERS = ['uploads', 'lists']
/** Keys of certificates, and the account at the authority. */
const SECRET_FOLDERS = ['acme']

/** Regular files only: a link is neither followed nor copied. Sorted by name. */
export async function* listDataFiles(
  dataDir: string,
  { withoutSecret }: { withoutSecret: boolean },
): AsyncGenerator<DataFile> {
  for (const folder of withoutSecret ? OPEN_FOLDERS : [...OPEN_FOLDERS, ...SECRET_FOLDERS]) {
    yield* listFolder(path.join(dataDir, folder), `${ENTRY.data}${folder}`)
  }
}

/** The bytes of a file. A file that is gone throws ENOENT before its first byte. */
export function readDataFile(file: string): AsyncIterable<Buffer> {
  return createReadStream(file, { highWaterMark: 256 * 1024 })
}

async function* listFolder(folder: string, entry: string): AsyncGenerator<DataFile> {
  for (const one of await entriesOf(folder)) {
    const place = { entry: `${entry}/${one.name}`, file: path.join(folder, one.name) }
    if (one.isDirectory()) yield* listFolder(place.file, place.entry)
    else if (one.isFile()) yield place
  }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
