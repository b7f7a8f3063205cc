/**
 * A file on its way in. Its bytes go to the database as they come, in chunks, each durable by
 * itself; the last of them, the end of the file and the job that reads it are one transaction. So
 * an upload that is cut off is no import, whatever of it was kept: `discard` deletes that, or where
 * the process died, the sweep.
 */
import { HOUR_MS } from '../../clock.ts'
import { enqueueForProject } from '../../jobs/enqueue-for-project.ts'
import { jsonValue } from '../../store/dialect.ts'
import { eq, sql } from '../../store/drizzle.ts'
import { idTime, newId } from '../../store/ids.ts'
import { importChunks } from '../../store/schema/jobs.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import type { Mapping } from './csv/header.ts'

/** Each is a kind of job, and what the ids of such jobs begin with. */
export type ImportKind = 'import' | 'suppressions-import'

export type ImportOptions = {
  filename: string
  mapping: Mapping
  /** Values of data are texts, whatever they look like. */
  areStrings: boolean
  /** The state of contacts that are new and have none in the file. */
  subscribed: boolean
}

/** What the job is given. */
export type ImportPayload = ImportOptions & { uploadId: string; sizeBytes: number }

export type ImportFile = {
  /** Resolves when there is room for more. @throws AppError DATABASE_ERROR */
  write(bytes: Uint8Array): Promise<void>
  /**
   * Makes the job; its id. Durable when it resolves. @throws AppError DATABASE_ERROR; CONFLICT when
   * the project has too many such jobs unfinished
   */
  finish(options: ImportOptions): Promise<string>
  /** Leaves nothing of it; what cannot be deleted now, the sweep deletes. Never rejects. */
  discard(): Promise<void>
}

const CHUNK_BYTES = 64 * 1024
/** A crash or a stop costs one; what was done is not done again, so a few more are cheap. */
const MAX_ATTEMPTS = 5
/** No request takes as long. */
const ABANDONED_MS = HOUR_MS

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
  { projectId, kind }: { projectId: string; kind: ImportKind },
): ImportFile {
  const uploadId = newId()
  let pieces: Uint8Array[] = []
  let pendingBytes = 0
  let sizeBytes = 0
  let count = 0

  async function keep(tx: Tx, chunk: { number: number; bytes: Buffer }): Promise<void> {
    if (chunk.bytes.length > 0) await tx.execute(insertChunk, { ...chunk, uploadId, at: now() })
  }

  function take(): { number: number; bytes: Buffer } {
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
      const chunk = take()
      await store.write((tx) => keep(tx, chunk))
    },
    finish(options) {
      const last = take()
      const payload: ImportPayload = { ...options, uploadId, sizeBytes }
      const job = { prefix: kind, kind, projectId, payload, now: now(), maxAttempts: MAX_ATTEMPTS }
      return store.write(async (tx) => {
        await keep(tx, last)
        tx.afterCommit(() => jobNotifier.notify())
        return enqueueForProject(tx, job)
      })
    },
    // Whoever gives up has a reason of its own to tell.
    discard: () => store.write((tx) => deleteImportFile(tx, uploadId)).catch(() => undefined),
  }
}

/** The file has been read, or will not be. */
export async function deleteImportFile(tx: Tx, uploadId: string): Promise<void> {
  await tx.execute(deleteChunks, { uploadId })
}

/** Deletes what uploads left that are no job's any more: of a process that died, of dead jobs. */
export async function deleteExpiredImportFiles({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<void> {
  const before = now() - ABANDONED_MS
  for (const { uploadId } of await store.read.list(listUploads)) {
    if (idTime(uploadId) >= before) continue
    await store.write(async (tx) => {
      const unfinished = await tx.list(selectUnfinished)
      if (unfinished.some((job) => job.uploadId === uploadId)) return
      await deleteImportFile(tx, uploadId)
    })
  }
}
