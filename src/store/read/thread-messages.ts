/** What passes between the main thread and the store's own threads. */
import type { Shape } from '../connection.ts'

export type ThreadSettings = { path: string; nativeBinding: string | undefined }

export type Query = { kind: 'query'; text: string; params: unknown[]; shape: Shape }

/**
 * `isQuiet`: nobody writes, so the file can be emptied. Otherwise pages are copied beside the
 * writer, and only a log of more than `maxLogBytes` makes it wait.
 */
export type Checkpoint = { kind: 'checkpoint'; isQuiet: boolean; maxLogBytes: number }

export type ThreadRequest = { id: number } & (Query | Checkpoint)

/** `code` is SQLite's symbolic result code, where it was SQLite that refused. */
export type ThreadFailure = { message: string; code?: string }

export type ThreadReply = { id: number; result: unknown } | { id: number; failure: ThreadFailure }
