/** The files of `data_dir` that belong into a backup besides the database: images, lists, certificates. */
import { createReadStream, type Dirent } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import path from 'node:path'
import { AppError, hasCode } from '../../../../base/errors.ts'
import { ENTRY, MAX_ENTRIES } from '../archive/manifest.ts'

export type DataFile = {
  /** The name in the archive. */
  entry: string
  file: string
  bytes: number
  /** The bytes of a file; one that is gone throws ENOENT before its first byte. */
  read(): AsyncIterable<Buffer> | Iterable<Buffer>
}

type ListOptions = { withoutSecret: boolean; maxFiles?: number }

type Folder = {
  name: string
  /** Its files only grow until they have a row, and may be large: they are read when they are archived. */
  isFrozen: boolean
  isSecret: boolean
}

const FOLDERS: readonly Folder[] = [
  { name: 'uploads', isFrozen: true, isSecret: false },
  { name: 'lists', isFrozen: false, isSecret: false },
  // Keys of certificates, and the account at the authority.
  { name: 'acme', isFrozen: false, isSecret: true },
]

/** The entries that a backup has besides these files, at most. */
const OTHER_ENTRIES = 1_000

/**
 * Regular files only: a link is neither followed nor copied. Sorted by name.
 * @throws AppError CONFLICT for more files than a backup may have
 */
export async function* listDataFiles(
  dataDir: string,
  { withoutSecret, maxFiles = MAX_ENTRIES - OTHER_ENTRIES }: ListOptions,
): AsyncGenerator<DataFile> {
  let count = 0
  for (const { name, isFrozen, isSecret } of FOLDERS) {
    if (withoutSecret && isSecret) continue
    const folder = { file: path.join(dataDir, name), entry: ENTRY.data + name }
    for await (const file of listFolder(folder, isFrozen)) {
      count += 1
      if (count > maxFiles) throw tooManyFiles(dataDir, maxFiles)
      yield file
    }
  }
}

function tooManyFiles(dataDir: string, maxFiles: number): AppError {
  const text = `${dataDir} has more than ${maxFiles} files, and a backup holds no more.`
  return new AppError('CONFLICT', text, {
    suggestion:
      'Delete images that no email needs, or take files of other programs out of the folder.',
  })
}

type Place = { file: string; entry: string }

async function* listFolder(folder: Place, isFrozen: boolean): AsyncGenerator<DataFile> {
  for (const one of await entriesOf(folder.file)) {
    const place = { entry: `${folder.entry}/${one.name}`, file: path.join(folder.file, one.name) }
    if (one.isDirectory()) yield* listFolder(place, isFrozen)
    if (!one.isFile()) continue
    const found = await (isFrozen ? readLater(place) : readNow(place)).catch(unlessMissing)
    if (found !== undefined) yield found
  }
}

/**
 * The bytes that the file has now. One that is still being written belongs to no row of the snapshot, so
 * a part of it harms nobody.
 */
async function readLater(place: Place): Promise<DataFile> {
  const { size } = await stat(place.file)
  const read = () =>
    size === 0 ? [] : createReadStream(place.file, { end: size - 1, highWaterMark: 256 * 1024 })
  return { ...place, bytes: size, read }
}

async function readNow(place: Place): Promise<DataFile> {
  const content = await readFile(place.file)
  return { ...place, bytes: content.length, read: () => [content] }
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    return unlessMissing(error) ?? []
  }
}

/** Undefined for a file that is gone. */
function unlessMissing(error: unknown): undefined {
  if (!hasCode(error, 'ENOENT')) throw error
  return undefined
}
