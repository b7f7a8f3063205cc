/**
 * Batches of rows, and a walk over old rows, for the retentions of large rows.
 *
 * The walk looks at the rows of a table from the oldest to the newest, in pages by their ids, which
 * begin with the time. A page is read once, except pages with rows that must stay until their mail
 * has ended: each run looks at these again. A run that is interrupted goes on where it stopped; a
 * new process begins at the oldest row.
 */
import { HOUR_MS } from '../../../base/clock.ts'
import type { SweepPace } from '../../../work/sweep.ts'

/** Rows per transaction; clearing a text visits all its database pages. */
const BATCH_ROWS = 100
const BATCH_BYTES = 8 * 1024 * 1024
export const RETENTION_PACE: SweepPace = { rows: BATCH_ROWS, rest: 'event loop' }

/** How far the walk of a process has come. */
export type OldRowsWalk = {
  /** All rows up to this id were looked at. */
  position: string
  /** The pages after these ids have rows that must stay for now. */
  late: Set<string>
}

export type OldRowsSpan = { after: string; until: string }

/** `last`: the last id of the page; undefined when no page follows. */
type LookedAt = { last: string | undefined; isLate: boolean }

/**
 * The time in an id may be this much earlier than the time that decides about the age of its row.
 */
const LAG_MS = HOUR_MS

export function createWalk(): OldRowsWalk {
  return { position: '', late: new Set() }
}

/** Calls `look` for the pages of rows older than `before`. */
export async function walkOld(
  walk: OldRowsWalk,
  { before, look }: { before: number; look: (span: OldRowsSpan) => Promise<LookedAt> },
): Promise<void> {
  const until = idAt(before)
  // The clock was set back: late pages would seem to have nothing that must stay.
  if (walk.position >= until) return
  for (const after of [...walk.late]) {
    const { isLate } = await look({ after, until })
    if (!isLate) walk.late.delete(after)
  }
  const passable = idAt(before - LAG_MS)
  let after = walk.position
  for (;;) {
    const { last, isLate } = await look({ after, until })
    if (last === undefined) return
    if (last < passable) {
      if (isLate) walk.late.add(after)
      walk.position = last
    }
    after = last
  }
}

/** Returns a text that sorts before every UUIDv7 of `instant` and of later times. */
function idAt(instant: number): string {
  const time = Math.max(0, instant).toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

/** Splits rows into batches bounded in rows and bytes; a larger row is its own batch. */
export function toBatches<Row extends { bytes: number }>(rows: readonly Row[]): Row[][] {
  const batches: Row[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of rows) {
    const open = batches.at(-1)
    bytes += row.bytes
    if (open !== undefined && open.length < BATCH_ROWS && bytes <= BATCH_BYTES) open.push(row)
    else {
      batches.push([row])
      bytes = row.bytes
    }
  }
  return batches
}
