/**
 * Spares the loops of a server at rest scans that find nothing: when no rows have changed for ten seconds, one that
 * found nothing since then does not run again, and no scan threads start. What a scan finds depends on its text,
 * its parameters and the rows alone.
 *
 * Scans of requests and of commands always run. So do scans that read jobs, whose rows do not count as changed
 * (`Connection.changes`).
 */
import { currentOwner } from '../../turns/owner.ts'
import type { Shape } from '../connection.ts'
import type { Run } from '../database.ts'

/** Loops that do something look again sooner. */
const REST_MS = 10_000
/** Beyond it, the others run again. */
const MAX_KNOWN = 200
const READS_JOBS = /\bjob/

/** `state`: another text when rows have changed; undefined while they may be changing, or when nobody can know. */
export function spareEmptyScans(run: Run, state: () => string | undefined): Run {
  const empty = new Set<string>()
  let emptyAt: string | undefined
  let since = 0

  function isEmpty(key: string): boolean {
    const at = state()
    const isKnown = at !== undefined && at === emptyAt && empty.has(key)
    return isKnown && performance.now() - since >= REST_MS
  }

  async function runAnew(...[text, params, shape]: Parameters<Run>): Promise<unknown> {
    const before = state()
    const found = await run(text, params, shape)
    if (before !== undefined && before === state() && isNothing(found)) {
      if (emptyAt !== before) since = performance.now()
      if (emptyAt !== before || empty.size >= MAX_KNOWN) empty.clear()
      emptyAt = before
      empty.add(keyOf(text, params))
    }
    return found
  }

  return (text, params, shape) => {
    if (!mayBeKnown(text, params)) return run(text, params, shape)
    return isEmpty(keyOf(text, params))
      ? Promise.resolve(nothing(shape))
      : runAnew(text, params, shape)
  }
}

function mayBeKnown(text: string, params: readonly unknown[]): boolean {
  return currentOwner().key === '' && !READS_JOBS.test(text) && params.every(isPlain)
}

function isPlain(value: unknown): boolean {
  return value === null || Number.isFinite(value) || ['string', 'boolean'].includes(typeof value)
}

function keyOf(text: string, params: readonly unknown[]): string {
  return JSON.stringify([text, params])
}

function isNothing(found: unknown): boolean {
  return found === undefined || (Array.isArray(found) && found.length === 0)
}

function nothing(shape: Shape): unknown {
  return shape === 'row' || shape === 'record' ? undefined : []
}
