/** The option `--limit` of commands that list. */
import { type Input, UsageError } from '../engine/command.ts'

const MAX_LIMIT = 10_000

export function readLimit(input: Input, defaultLimit: number): number {
  const given = input.text('limit') ?? String(defaultLimit)
  const limit = /^\d{1,5}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit: expected a number from 1 to ${MAX_LIMIT}`)
}
