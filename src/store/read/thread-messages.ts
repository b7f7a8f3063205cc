/** The messages between the main thread and the store's threads. */
import type { Shape } from '../connection.ts'

export type StoreThreadSettings = { path: string; nativeBinding: string | undefined }

export type Query = { kind: 'query'; text: string; params: unknown[]; shape: Shape }

/**
 * `isQuiet`: there are no writes, so the log can start over. Otherwise pages are copied while
 * the writer works, and only a log of more than `maxLogBytes` makes the writer wait. Without `mayWait`
 * it never waits. `empties`: a log that starts over loses its file's size too. The result is whether it
 * waited in vain.
 */
export type Checkpoint = {
  kind: 'checkpoint'
  isQuiet: boolean
  empties: boolean
  maxLogBytes: number
  mayWait: boolean
}

export type ThreadRequest = { id: number } & (Query | Checkpoint)

/** `code` is SQLite's symbolic result code; absent for other errors. */
export type ThreadFailure = { message: string; code?: string }

export type ThreadResult = { id: number; result: unknown } | { id: number; failure: ThreadFailure }
