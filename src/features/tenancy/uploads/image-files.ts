/**
 * The files of uploaded images, in 256 folders below `data_dir/uploads`. Each upload gets a file of
 * its own, named by a new UUIDv7, and the row refers to it. So a file never changes and never gets
 * another owner: it is durable before its row is written, and is removed after its row is gone. A
 * crash in between leaves a file without a row, which `deleteOrphanedFiles` removes.
 */
import { mkdir, open, opendir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { AppError, hasCode } from '../../../base/errors.ts'
import type { Config } from '../../../config/config.ts'
import { syncFolder } from '../../../config/sync-folder.ts'
import { isUuid, newId } from '../../../store/ids.ts'

type ImageFolder = Pick<Config, 'dataDir'>

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
/** The last digits of a UUIDv7 are random. */
const FOLDER_DIGITS = 2

/** Resolves to the name of the new file when it is durable. @throws AppError INSUFFICIENT_STORAGE */
export async function writeImageFile(
  place: ImageFolder,
  parts: readonly Buffer[],
): Promise<string> {
  const file = newId()
  const fullPath = pathOf(place, file)
  try {
    await makeFolder(place, path.dirname(fullPath))
    await writeDurably(fullPath, parts)
    await syncFolder(path.dirname(fullPath))
  } catch (error) {
    // The error that ended the write matters more; the sweep removes the rest.
    await deleteImageFile(place, file).catch(() => undefined)
    throw isDiskFull(error) ? diskFull(error) : error
  }
  return file
}

/** Reads up to `maxBytes` of the file from `offset` on; undefined when there is no such file. */
export async function readImageFile(
  place: ImageFolder,
  file: string,
  { offset, maxBytes }: { offset: number; maxBytes: number },
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const handle = await unlessMissing(open(pathOf(place, file), 'r'))
  if (handle === undefined) return undefined
  try {
    const bytes = new Uint8Array(maxBytes)
    const { bytesRead } = await handle.read(bytes, 0, maxBytes, offset)
    return bytes.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}

export async function hasImageFile(place: ImageFolder, file: string): Promise<boolean> {
  return (await unlessMissing(stat(pathOf(place, file)))) !== undefined
}

/** Removes a file; one that is gone already is no error. */
export async function deleteImageFile(place: ImageFolder, file: string): Promise<void> {
  await rm(pathOf(place, file), { force: true })
}

/** The names of all files of images; other files in the folders are not listed. */
export async function* listImageFiles(place: ImageFolder): AsyncGenerator<string> {
  for await (const folder of entriesOf(root(place))) {
    if (!folder.isDirectory()) continue
    for await (const entry of entriesOf(path.join(root(place), folder.name))) {
      const isImage = entry.isFile() && isUuid(entry.name) && folderOf(entry.name) === folder.name
      if (isImage) yield entry.name
    }
  }
}

async function* entriesOf(folder: string) {
  const entries = await unlessMissing(opendir(folder))
  if (entries !== undefined) yield* entries
}

/** Undefined when there is no such file or folder. */
async function unlessMissing<T>(opened: Promise<T>): Promise<T | undefined> {
  try {
    return await opened
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

async function makeFolder(place: ImageFolder, folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
  if (made === undefined) return
  await syncFolder(root(place))
  await syncFolder(place.dataDir)
}

async function writeDurably(fullPath: string, parts: readonly Buffer[]): Promise<void> {
  const handle = await open(fullPath, 'wx', FILE_MODE)
  try {
    await handle.writeFile(parts)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function pathOf(place: ImageFolder, file: string): string {
  return path.join(root(place), folderOf(file), file)
}

function folderOf(file: string): string {
  return file.slice(-FOLDER_DIGITS)
}

function root({ dataDir }: ImageFolder): string {
  return path.join(dataDir, 'uploads')
}

/** The disk of `data_dir` may be another than the one of the database, which is watched. */
function isDiskFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
}

function diskFull(cause: unknown): AppError {
  return new AppError('INSUFFICIENT_STORAGE', 'The image cannot be stored at the moment.', {
    cause,
    details: { retryAfter: 60 },
  })
}
