/** A bulk change in short transactions with pauses, so that nobody waits long for the writer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { rowsChanged } from '../../../store/database.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'

/** Rows of one transaction: the limit of every `change`. */
export const CHUNK = 500
/** A running server looks for the lock every 50 ms at the latest, and finds it free in a pause. */
const PAUSE_MS = 60

/** Until `change` changes less than a chunk; how many rows were changed. */
export async function inChunks(
  store: Base['store'],
  change: (tx: Tx) => PromiseLike<Parameters<typeof rowsChanged>[0]>,
): Promise<number> {
  let total = 0
  for (;;) {
    const write = async (tx: Tx) => rowsChanged(await change(tx))
    const changed = await store.write(write, { heavyFor: 'operator' })
    total += changed
    if (changed < CHUNK) return total
    await sleep(PAUSE_MS)
  }
}
