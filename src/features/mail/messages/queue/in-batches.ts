/** A bulk change in short transactions with pauses, so that other writers wait only briefly. */
import { rowsChanged } from '../../../../store/database.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'

/** Rows per transaction. Every `change` must use it as its limit. */
export const QUEUE_BATCH_ROWS = 500
/**
 * A server that waits for the lock tries again every few milliseconds, so it gets the lock in a
 * pause.
 */
const PACE: SweepPace = { rows: QUEUE_BATCH_ROWS, rest: { ms: 60 } }

/** Repeats `change` until it changes less than a batch. Returns the number of changed rows. */
export async function inBatches(
  store: Base['store'],
  change: (tx: Tx) => PromiseLike<Parameters<typeof rowsChanged>[0]>,
): Promise<number> {
  const rules = { pace: PACE, heavyFor: 'operator', until: 'short' as const }
  return sweep({ store }, rules, async (tx) => rowsChanged(await change(tx)))
}
