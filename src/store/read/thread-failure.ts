/** An error of a thread of the store, as a message and back. */
import { queryError, sqliteCode } from '../database-error.ts'
import type { ThreadFailure } from './thread-messages.ts'

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
