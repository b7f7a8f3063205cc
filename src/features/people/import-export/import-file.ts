/**
 * The file of an import, stored in a table of chunks of its own until the job has read it. The
 * request writes the chunks as the bytes arrive, each durable by itself. One transaction writes the
 * last chunk and enqueues the job, so an interrupted upload never becomes an import: `discard`
 * deletes its chunks or, after a crash, `deleteExpiredImportFiles`.
 */
import { HOUR_MS } from '../../../base/clock.ts'
import type { FieldWarning } from '../../../base/errors.ts'
import type { ImportData } from '../../../records/import.ts'
import { jsonValue } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { idTime, newId } from '../../../store/ids.ts'
import { importChunks } from '../../../store/schema/jobs.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { findJobStatus, type JobStatus } from '../../../work/jobs/status.ts'
import type { Base } from '../../ground/base.ts'
import { enqueueForProject } from '../../ground/enqueue-for-project.ts'
import type { Mapping } from './csv/column-names.ts'

/** A kind of job, and the prefix of the ids of such jobs. */
export type ImportKind = 'import' | 'suppressions-import'

export type ImportOptions = {
  filename: string
  mapping: Mapping
  /** Reads all values of data as texts, even those that look like numbers or booleans. */
  areStrings: boolean
  /** Whether a new contact is subscribed if its row does not say. */
  subscribed: boolean
  /** Whether rows subscribe people who left; absent in files of an earlier version. */
  resubscribe?: boolean
  /**
   * Whether rows without a state subscribe existing contacts too; absent in files of an earlier
   * version.
   */
  subscribesKnown?: boolean
  /** Whether the file is only read and counted; absent in files of an earlier version. */
  dryRun?: boolean
  /** Fields of the form that an import does not have; absent in files of an earlier version. */
  unknownFields?: readonly FieldWarning[]
}

/** The payload of the job. */
export type ImportPayload = ImportOptions & { uploadId: string; sizeBytes: number }

type ImportFile = {
  /** Resolves when the file can take more bytes. @throws AppError DATABASE_ERROR */
  write(bytes: Uint8Array): Promise<void>
  /**
   * Enqueues the job and returns its id. The file and the job are durable when the promise
   * resolves.
   * @throws AppError DATABASE_ERROR; CONFLICT when the project has too many unfinished imports
   */
  finish(options: ImportOptions): Promise<string>
  /** Deletes the file. Never rejects: `deleteExpiredImportFiles` deletes the rest. */
  discard(): Promise<void>
}

const CHUNK_BYTES = 64 * 1024
/**
 * A crash or a stop of the server costs an attempt. The next attempt resumes, so a few more than
 * usual are cheap.
 */
const MAX_ATTEMPTS = 5
/** The age at which files without a job are deleted: longer than any request. */
const EXPIRES_AFTER_MS = HOUR_MS

const insertChunk = statement((db) =>
  db.insert(importChunks).values({
    uploadId: parameter('uploadId'),
    number: parameter('number'),
    bytes: parameter('bytes'),
    createdAt: parameter('at'),
  }),
)

const deleteChunks = statement((db) =>
  db.delete(importChunks).where(eq(importChunks.uploadId, parameter('uploadId'))),
)

const listUploads = statement<{ uploadId: string }>(
  () => sql`select distinct upload_id as uploadId from import_chunks`,
)

const selectUnfinished = statement<{ uploadId: string }>(
  () => sql`select ${jsonValue(sql`payload`, 'uploadId')} as uploadId from jobs
    where state in ('waiting', 'active') and kind in ('import', 'suppressions-import')`,
)

export function createImportFile(
  { store, now, jobNotifier }: Pick<Base, 'store' | 'now' | 'jobNotifier'>,
  { projectId, userId, kind }: { projectId: string; userId?: string | null; kind: ImportKind },
): ImportFile {
  const uploadId = newId()
  let pieces: Uint8Array[] = []
  let pendingBytes = 0
  let sizeBytes = 0
  let count = 0

  async function writeChunk(tx: Tx, chunk: { number: number; bytes: Buffer }): Promise<void> {
    if (chunk.bytes.length > 0) await tx.execute(insertChunk, { ...chunk, uploadId, at: now() })
  }

  function nextChunk(): { number: number; bytes: Buffer } {
    const bytes = Buffer.concat(pieces)
    pieces = []
    pendingBytes = 0
    count += 1
    return { number: count - 1, bytes }
  }

  return {
    async write(bytes) {
      pieces.push(bytes)
      pendingBytes += bytes.length
      sizeBytes += bytes.length
      if (pendingBytes < CHUNK_BYTES) return
      const chunk = nextChunk()
      await store.write((tx) => writeChunk(tx, chunk))
    },
    finish(options) {
      const last = nextChunk()
      const payload: ImportPayload = { ...options, uploadId, sizeBytes }
      const about = { prefix: kind, kind, projectId, userId, payload }
      const job = { ...about, now: now(), maxAttempts: MAX_ATTEMPTS }
      return store.write(async (tx) => {
        await writeChunk(tx, last)
        tx.afterCommit(() => jobNotifier.notify())
        return enqueueForProject(tx, job)
      })
    },
    // A failure here is ignored, because the caller already has an error to report.
    discard: () => store.write((tx) => deleteImportFile(tx, uploadId)).catch(() => undefined),
  }
}

/** Deletes a file that the job has read or will not read. */
export async function deleteImportFile(tx: Tx, uploadId: string): Promise<void> {
  await tx.execute(deleteChunks, { uploadId })
}

/** Deletes the file of a job that was cancelled. `payload`: that of the job. */
export async function discardImportFile(tx: Tx, payload: unknown): Promise<void> {
  await deleteImportFile(tx, (payload as ImportPayload).uploadId)
}

/** Deletes the files of interrupted uploads and of failed jobs. */
export async function deleteExpiredImportFiles({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<void> {
  const before = now() - EXPIRES_AFTER_MS
  for (const { uploadId } of await store.read.list(listUploads)) {
    if (idTime(uploadId) >= before) continue
    await store.write(async (tx) => {
      const unfinished = await tx.list(selectUnfinished)
      if (unfinished.some((job) => job.uploadId === uploadId)) return
      await deleteImportFile(tx, uploadId)
    })
  }
}

/**
 * Finds the status of an import, with the options of its request and without the file.
 * @throws AppError RESOURCE_NOT_FOUND, also for another project's
 */
export async function findImport(
  deps: Pick<Base, 'store' | 'now'>,
  { projectId, id, kind }: { projectId: string; id: string; kind: ImportKind },
): Promise<JobStatus & { data: ImportData }> {
  const status = await findJobStatus(deps, { projectId, id, kinds: [kind] })
  return { ...status, data: toData(status.data as ImportPayload) }
}

function toData(payload: ImportPayload): ImportData {
  const { filename, sizeBytes, areStrings, subscribed } = payload
  const { resubscribe = false, dryRun = false } = payload
  const types = areStrings ? 'strings' : 'values'
  const mapping = Object.fromEntries(payload.mapping)
  return { filename, sizeBytes, mapping, types, subscribed, resubscribe, dryRun }
}
