/** The messages between the main thread and the store's threads, and errors as messages. */
import type { ResultShape } from '../connection.ts'
import { queryError, sqliteCode } from '../database-error.ts'

export type StoreThreadSettings = { path: string; nativeBinding: string | undefined }

export type ScanQuery = { kind: 'query'; text: string; params: unknown[]; shape: ResultShape }

/**
 * `isQuiet`: there are no writes, so the log can start over. Otherwise pages are copied while
 * the writer works, and only a log of more than `maxLogBytes` makes the writer wait. Without `mayWait`
 * it never waits. `empties`: a log that starts over loses its file's size too. The result tells whether the
 * writer waited in vain.
 */
export type Checkpoint = {
  kind: 'checkpoint'
  isQuiet: boolean
  empties: boolean
  maxLogBytes: number
  mayWait: boolean
}

export type ThreadRequest = { id: number } & (ScanQuery | Checkpoint)

/** `code` is SQLite's symbolic result code; absent for other errors. */
export type ThreadFailure = { message: string; code?: string }

export type ThreadResult = { id: number; result: unknown } | { id: number; failure: ThreadFailure }

/** An error of a thread of the store as a message. */
export function toFailure(error: unknown): ThreadFailure {
  const original = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const message = original instanceof Error ? original.message : String(original)
  const code = sqliteCode(original)
  return code === '' ? { message } : { message, code }
}

/** The error as SQLite threw it in the other thread. */
export function toError({ message, code }: ThreadFailure, file: string): unknown {
  const error = Object.assign(new Error(message), code === undefined ? {} : { code })
  return queryError(error, file)
}
