/** The option `--since`: an instant, or how long ago. */
import { parseInstant } from '../../base/clock.ts'
import { parseDuration } from '../../config/values/durations.ts'
import { UsageError } from '../engine/command.ts'

/** Epoch ms. An instant without a zone is in UTC. @throws UsageError */
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
