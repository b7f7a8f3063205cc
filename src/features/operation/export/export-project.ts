/**
 * Exports a project into a new folder, beside a running server: one NDJSON file for each table
 * (`tables.ts`), its images, the attachments and received mail as files, and a manifest. All rows are from
 * one moment. The folder has a temporary name until it is complete.
 *
 * Secrets and digests of passwords are never inside. Run it in a process that ends soon
 * (`row-reader.ts`).
 */
import { createHash, type Hash } from 'node:crypto'
import { copyFile, type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { formatInstant, type Now } from '../../../base/clock.ts'
import { AppError, hasCode, notFound } from '../../../base/errors.ts'
import { nativeBindingPath } from '../../../config/addon.ts'
import type { Config } from '../../../config/config.ts'
import { syncFolder } from '../../../config/sync-folder.ts'
import { productVersion } from '../../../config/version.ts'
import { sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import {
  openRowReader,
  type RowReader,
  type StoredRow,
} from '../../../store/snapshot/row-reader.ts'
import { hasCurrentSchema } from '../../../store/snapshot/unmigrated.ts'
import type { ExportedTable, TableDuties } from '../../ground/manifest/table.ts'
import { writeBlobs } from './blobs.ts'
import { findExported, HIDDEN_FIELDS, listExported, listLeftOut } from './tables.ts'

/** `tables`: the tables of all areas. */
type ExportDeps = {
  config: Config
  now: Now
  signal: AbortSignal
  tables: readonly TableDuties[]
}

/** `folder` must not exist, or must be empty. */
type ExportInput = { projectId: string; folder: string }

type ProjectExport = {
  folder: string
  name: string
  /** The number of rows by the names of the files. */
  rows: Record<string, number>
  /** The number of images, attachments and received messages. */
  files: number
  /** The ids of received messages without a file (`blobs.ts`). */
  withheld: string[]
}

type WrittenFile = Omit<ProjectExport, 'folder' | 'name'>
type ExportContext = ExportDeps & ExportInput & { reader: RowReader }
type FileFacts = { rows: number; bytes: number; sha256: string }

/** The number of characters that are written at once. */
const PIECE_CHARS = 256 * 1024

/** @throws AppError RESOURCE_NOT_FOUND; CONFLICT for a folder in use or another schema */
export async function exportProject(
  deps: ExportDeps,
  { projectId, folder }: ExportInput,
): Promise<ProjectExport> {
  const { database, dataDir } = deps.config
  const nativeBinding = nativeBindingPath(dataDir)
  if (!hasCurrentSchema(database.file, nativeBinding)) throw otherSchema(database.file)
  await refuseUsed(folder)
  const reader = openRowReader(database.file, nativeBinding)
  try {
    const [project] = reader.rows(projects, sql`id = ${projectId} and deleted_at is null`)
    if (project === undefined) throw notFound('project', projectId, 'There is no such project.')
    const made = await writeFolder({ ...deps, projectId, folder, reader })
    return { folder, name: String(project.name), ...made }
  } finally {
    reader.close()
  }
}

async function writeFolder(context: ExportContext): Promise<WrittenFile> {
  const { folder } = context
  const parent = path.dirname(folder)
  // Only exports use this name, so a file or folder of this name is the leftover of a killed export
  // and may be removed.
  const partial = path.join(parent, `.pillarbox-export-${path.basename(folder)}.partial`)
  await rm(partial, { recursive: true, force: true })
  try {
    await mkdir(partial, { recursive: true, mode: 0o700 })
    const made = await writeAll({ ...context, folder: partial })
    await syncFolder(partial)
    await rename(partial, folder)
    await syncFolder(parent)
    return made
  } catch (error) {
    await rm(partial, { recursive: true, force: true })
    throw error
  }
}

async function writeAll(context: ExportContext): Promise<WrittenFile> {
  const facts: Record<string, FileFacts> = {}
  for (const exported of listExported(context.tables)) {
    facts[`${exported.name}.ndjson`] = await writeTable(context, exported)
  }
  const blobs = await writeBlobs(context)
  const { withheld } = blobs
  const files = blobs.files + (await copyImages(context))
  const manifest = {
    format: 'pillarbox-project-export',
    formatVersion: 1,
    version: productVersion(),
    projectId: context.projectId,
    createdAt: formatInstant(context.now()),
    tables: facts,
    files,
    withheld,
    leftOut: listLeftOut(context.tables),
    hiddenFields: HIDDEN_FIELDS,
  }
  const handle = await open(path.join(context.folder, 'manifest.json'), 'wx', 0o600)
  await writeAndClose(handle, [`${JSON.stringify(manifest, null, 2)}\n`])
  const rows = Object.entries(facts).map(([name, { rows: count }]) => [name, count] as const)
  return { rows: Object.fromEntries(rows), files, withheld }
}

async function writeTable(context: ExportContext, exported: ExportedTable): Promise<FileFacts> {
  const { folder, projectId, reader } = context
  const handle = await open(path.join(folder, `${exported.name}.ndjson`), 'wx', 0o600)
  const facts = { rows: 0, bytes: 0 }
  const hash = createHash('sha256')
  const rows = reader.rows(exported.table, exported.condition(projectId))
  const lines = linesOf(context, exported, rows)
  await writeAndClose(handle, counted(lines, { facts, hash, signal: context.signal }))
  return { ...facts, sha256: hash.digest('hex') }
}

function* linesOf(
  { config, projectId }: ExportContext,
  { view, isWholeView = false }: ExportedTable,
  rows: Iterable<StoredRow>,
): Generator<string> {
  for (const row of rows) {
    const shown = { ...(isWholeView ? {} : row), ...view?.(row, config) }
    yield `${JSON.stringify(toRecord(shown, projectId))}\n`
  }
}

/**
 * Makes the record of a row: without hidden fields, with instants as the API writes them and octets
 * in base64.
 */
function toRecord(row: object, projectId: string): StoredRow {
  const entries = Object.entries(row)
    .filter(([name]) => !HIDDEN_FIELDS.includes(name))
    .map(([name, value]: [string, unknown]) => [name, toValue(name, value, projectId)])
  return Object.fromEntries(entries)
}

function toValue(name: string, value: unknown, projectId: string): unknown {
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (typeof value === 'number' && /(At|Until)$|^at$/.test(name)) return formatInstant(value)
  // Other recipients of the message may be mailboxes of other projects; these are left out.
  if (name === 'recipients' && Array.isArray(value)) {
    return value.filter((one) => one?.projectId === projectId)
  }
  return value
}

async function* counted(
  lines: Iterable<string>,
  { facts, hash, signal }: { facts: Omit<FileFacts, 'sha256'>; hash: Hash; signal: AbortSignal },
): AsyncGenerator<string> {
  let piece = ''
  const take = () => {
    facts.bytes += Buffer.byteLength(piece)
    hash.update(piece)
    const taken = piece
    piece = ''
    return taken
  }
  for (const line of lines) {
    piece += line
    facts.rows += 1
    if (piece.length < PIECE_CHARS) continue
    yield take()
    // Lets the watch of the disk run between two pieces.
    await setImmediate()
    signal.throwIfAborted()
  }
  if (piece !== '') yield take()
}

async function writeAndClose(
  handle: FileHandle,
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<void> {
  try {
    for await (const piece of pieces) await handle.writeFile(piece)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/**
 * Copies the images under the names in their URLs. An image that was deleted meanwhile is skipped.
 */
async function copyImages(context: ExportContext): Promise<number> {
  const { config, folder, projectId, reader, signal, tables } = context
  const exported = findExported(tables, 'uploads')
  const to = path.join(folder, 'uploads')
  await mkdir(to, { mode: 0o700 })
  let copied = 0
  for (const { name, file } of reader.rows(exported.table, exported.condition(projectId))) {
    signal.throwIfAborted()
    const from = path.join(config.dataDir, 'uploads', String(file).slice(-2), String(file))
    try {
      await copyFile(from, path.join(to, path.basename(String(name))))
      copied += 1
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
  return copied
}

async function refuseUsed(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  })
  if (names.length === 0) return
  const text = `The folder ${folder} is not empty, and was not changed.`
  throw new AppError('CONFLICT', text, { suggestion: 'Choose another folder with --to.' })
}

function otherSchema(file: string): AppError {
  const text = `The database ${file} is not there, or belongs to another version of this program.`
  return new AppError('CONFLICT', text, { suggestion: 'Start the server with this version first.' })
}
