/**
 * The files of uploaded images, in 256 folders below `data_dir/uploads`: writing, opening and removing them. Each
 * upload gets a file of its own, named by a new UUIDv7, and the row refers to it. So a file never changes and
 * never gets another owner: it is durable before its row is written, and is removed after its row is gone. A
 * crash in between leaves a file without a row, which `deleteOrphanedFiles` removes.
 *
 * Anyone who has the URL of an image may read it. A file is open only while a piece of it is read, and few files
 * are open at once: slow readers hold no files, and many readers do not take the threads that make mail
 * durable. The networks of readers take turns.
 */
import { mkdir, open, opendir, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { AppError, hasCode, notFound } from '../../../base/errors.ts'
import type { Config } from '../../../config/config.ts'
import { syncFolder } from '../../../config/sync-folder.ts'
import { and, eq, isNull } from '../../../store/drizzle.ts'
import { isUuid, newId } from '../../../store/ids.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { uploads } from '../../../store/schema/uploads.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { createTurns } from '../../../turns/turns.ts'
import type { Base } from '../../ground/base.ts'

/** The name of an image: 32 hexadecimal digits and an extension. */
const NAME = /^[0-9a-f]{32}\.(?:jpg|png|gif|webp)$/

type ImageFolder = Pick<Config, 'dataDir'>

const FOLDER_MODE = 0o700
const FILE_MODE = 0o600
/**
 * The number of digits that name a folder: the last ones, because the end of a UUIDv7 is random.
 */
const FOLDER_DIGITS = 2

type OpenImage = {
  contentType: string
  sizeBytes: number
  /**
   * Reads the image piece by piece. The first piece is read at once, so that a missing file is
   * noticed before the response begins.
   * @throws AppError RESOURCE_NOT_FOUND; as `Turns.take` (`turns/turns.ts`)
   */
  read(): Promise<AsyncIterable<Uint8Array> | Uint8Array<ArrayBuffer>>
}

type ImageOpener = (name: string) => Promise<OpenImage>

type Deps = Pick<Base, 'store' | 'config' | 'log'>
type ImageRow = { name: string; file: string; contentType: string; sizeBytes: number }
type ReadPiece = (offset: number) => Promise<Uint8Array<ArrayBuffer>>

const PIECE_BYTES = 64 * 1024
const FILES_AT_ONCE = 2
/**
 * How many reads of a network may wait. The number is high because some mailbox providers load the
 * images of all their users.
 */
const WAITING_OF_NETWORK = 500
const WAITING_READS = 1_000
const RETRY_AFTER_SECONDS = 2

/**
 * Finds an image of a project that is not deleted: the images of a deleted project are not shown
 * although their rows still exist.
 */
const findImage = statement((db) =>
  db
    .select({
      name: uploads.name,
      file: uploads.file,
      contentType: uploads.contentType,
      sizeBytes: uploads.sizeBytes,
    })
    .from(uploads)
    .innerJoin(projects, eq(projects.id, uploads.projectId))
    .where(and(eq(uploads.name, parameter('name')), isNull(projects.deletedAt))),
)

export function isImageName(text: string): boolean {
  return NAME.test(text)
}

/**
 * Writes an image. Resolves to the name of the new file when the file is durable.
 * @throws AppError INSUFFICIENT_STORAGE
 */
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
    // A failure of the clean-up is ignored: the first error matters more, and `deleteOrphanedFiles`
    // removes the file later.
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

/** Removes a file; a missing file is no error. */
export async function deleteImageFile(place: ImageFolder, file: string): Promise<void> {
  await rm(pathOf(place, file), { force: true })
}

/** Yields the names of all files of images. Other files in the folders are left out. */
export async function* listImageFiles(place: ImageFolder): AsyncGenerator<string> {
  for await (const folder of entriesOf(root(place))) {
    if (!folder.isDirectory()) continue
    for await (const entry of entriesOf(path.join(root(place), folder.name))) {
      const isImage = entry.isFile() && isUuid(entry.name) && folderOf(entry.name) === folder.name
      if (isImage) yield entry.name
    }
  }
}

/** Returns a function that opens the image of a name. It throws AppError RESOURCE_NOT_FOUND. */
export function createImageOpener(deps: Deps): ImageOpener {
  const turns = createTurns({
    atOnce: FILES_AT_ONCE,
    waitingPerProject: WAITING_OF_NETWORK,
    waiting: WAITING_READS,
    to: 'for images',
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

  function pieceReader({ name, file, sizeBytes }: ImageRow): ReadPiece {
    return async (offset) => {
      const maxBytes = Math.min(PIECE_BYTES, sizeBytes - offset)
      const read = () => readImageFile(deps.config, file, { offset, maxBytes })
      const bytes = await turns.take(read)
      if (bytes?.length === maxBytes) return bytes
      deps.log.warn({ name, file }, 'the file of an image is missing or too short')
      throw unknownImage(name)
    }
  }

  return async (name) => {
    const row = isImageName(name) ? await deps.store.read.find(findImage, { name }) : undefined
    if (row === undefined) throw unknownImage(name)
    const { contentType, sizeBytes } = row
    const readPiece = pieceReader(row)
    return {
      contentType,
      sizeBytes,
      async read() {
        const first = await readPiece(0)
        return sizeBytes > PIECE_BYTES ? piecesOf(first, readPiece, sizeBytes) : first
      },
    }
  }
}

async function* entriesOf(folder: string) {
  const entries = await unlessMissing(opendir(folder))
  if (entries !== undefined) yield* entries
}

/** Returns undefined when there is no such file or folder. */
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

/**
 * Whether the disk of `data_dir` is full. Only the disk of the database is watched, and this may be
 * another one.
 */
function isDiskFull(error: unknown): boolean {
  return hasCode(error, 'ENOSPC') || hasCode(error, 'EDQUOT')
}

function diskFull(cause: unknown): AppError {
  return new AppError('INSUFFICIENT_STORAGE', 'The image cannot be stored at the moment.', {
    cause,
    details: { retryAfter: 60 },
  })
}

async function* piecesOf(
  first: Uint8Array,
  readPiece: ReadPiece,
  sizeBytes: number,
): AsyncGenerator<Uint8Array> {
  yield first
  for (let at = first.length; at < sizeBytes; at += PIECE_BYTES) yield readPiece(at)
}

function unknownImage(name: string): AppError {
  return notFound('upload', name, 'There is no such image.')
}
