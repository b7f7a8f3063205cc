/**
 * Brings rows in line with a change that concerns many of them, such as a stop. The change is a row that
 * is written at once; the rows that it concerns follow in batches (`sweep.ts`). Units of them take turns,
 * pass after pass, so a long one does not keep the others waiting. All of it is found in the database, so
 * a server that was killed goes on where it stopped.
 */
type Passes<Unit> = {
  /** The units that may have rows to move. */
  list(): Promise<readonly Unit[]>
  /** Moves rows of a unit: all of them, or those of one turn. Returns the number of moved rows. */
  move(unit: Unit): Promise<number>
}

/** Ends after a pass that moved nothing, or once the signal has aborted. Returns the number of moved rows. */
export async function settleInPasses<Unit>(
  { list, move }: Passes<Unit>,
  signal: AbortSignal | undefined,
): Promise<number> {
  let total = 0
  for (let moved = 1; moved > 0 && !signal?.aborted; ) {
    moved = 0
    for (const unit of await list()) {
      if (signal?.aborted) break
      moved += await move(unit)
    }
    total += moved
  }
  return total
}
