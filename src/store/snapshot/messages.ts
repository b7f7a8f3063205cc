/** The messages between a snapshot and its thread. */
import type { ThreadFailure } from '../read/thread-messages.ts'

export type SnapshotSettings = {
  path: string
  nativeBinding: string | undefined
  /** How long to wait for other connections that read from the log. */
  waitMs: number
}

export type SnapshotFacts = {
  pageBytes: number
  pages: number
  /** The number of the last migration. */
  schema: number
  journal: string
  /** The number of the newest event. */
  seq: number
  /** How often the database has been restored. */
  generation: number
}

export type SnapshotRequest =
  | { kind: 'begin' }
  | { kind: 'tables' }
  /** Checks one table and its indexes. */
  | { kind: 'check'; table: string }

/** `result`: of `begin` the facts, or null; of `tables` the names; of `check` the faults. */
export type SnapshotReply = { result: SnapshotFacts | null | string[] } | { failure: ThreadFailure }
