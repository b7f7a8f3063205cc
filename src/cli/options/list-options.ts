/** Reads the options of commands that list: `--limit` and `--since`. */
import { parseInstant } from '../../base/clock.ts'
import { parseDuration } from '../../config/values/durations.ts'
import { type Input, UsageError } from '../engine/command.ts'

const MAX_LIMIT = 10_000

/**
 * Reads `--limit`.
 * @throws UsageError for a number outside 1 to 10,000
 */
export function readLimit(input: Input, defaultLimit: number): number {
  const given = input.text('limit') ?? String(defaultLimit)
  const limit = /^\d{1,5}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit: expected a number from 1 to ${MAX_LIMIT}`)
}

/**
 * Reads `--since` as epoch ms: an instant, or a time ago such as `2h`. An instant without a zone is
 * in UTC.
 * @throws UsageError
 */
export function readSince(text: string, now: number): number {
  const given = text.trim()
  const ago = parseDuration(given)
  const at = ago === undefined ? parseInstant(given)?.at : now - ago
  if (at === undefined) {
    throw new UsageError(
      '--since: expected an instant such as 2026-11-21T12:00:00Z, or how long ago, such as 30m or 2h',
    )
  }
  if (at > now) throw new UsageError('--since: the instant is in the future')
  return at
}
