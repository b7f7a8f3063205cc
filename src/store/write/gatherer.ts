/**
 * Writes items that wait at the same time in one closure, so that one statement can serve many of them.
 * The closure takes what waits when its turn in the group comes, at most `MAX_ITEMS`.
 *
 *   `together` returns a result     the item is written, and durable when its promise resolves
 *   `together` returns `ALONE`      nothing was written for the item: `alone` writes it, in a closure of
 *                                   its own, with its own error
 *   `together` throws               nothing of the batch was written: each item is written alone
 *   the transaction fails           all callers get its DATABASE_ERROR
 */
import { AppError } from '../../errors.ts'
import { goOn } from '../../turns/owner.ts'
import type { Store } from '../store.ts'
import type { Tx } from './transaction.ts'

/** The result for an item that no other item may share a closure with. */
export const ALONE = Symbol('alone')

export type Alone = typeof ALONE

const MAX_ITEMS = 64

type Writes<Item, Result> = {
  /** The results in the order of the items. Runs a second time as any closure (`Store.write`). */
  together(tx: Tx, items: readonly Item[]): Promise<(Result | Alone)[]>
  /** @throws what the caller gets */
  alone(tx: Tx, item: Item): Promise<Result>
}

/** Writes one item. @throws errors of `alone`; AppError DATABASE_ERROR when nothing was committed */
export type Gatherer<Item, Result> = (item: Item) => Promise<Result>

type Waiting<Item, Result> = {
  item: Item
  resolve(result: Result | Alone): void
  reject(error: unknown): void
}

export function createGatherer<Item, Result>(
  store: Pick<Store, 'write'>,
  { together, alone }: Writes<Item, Result>,
): Gatherer<Item, Result> {
  let waiting: Waiting<Item, Result>[] = []
  /** Closures that have not taken their items yet. */
  let asked = 0

  function take(): Waiting<Item, Result>[] {
    asked -= 1
    const taken = waiting.slice(0, MAX_ITEMS)
    waiting = waiting.slice(MAX_ITEMS)
    return taken
  }

  function ask(): void {
    asked += 1
    let taken: Waiting<Item, Result>[] | undefined
    const write = async (tx: Tx) => {
      taken ??= take()
      const items = taken.map(({ item }) => item)
      const results = await together(tx, items)
      if (results.length !== items.length) throw new TypeError('each item needs one result')
      return results
    }
    store.write(write).then(
      (results) => {
        for (const [index, result] of results.entries()) taken?.[index]?.resolve(result)
      },
      (error) => {
        taken ??= take()
        const mayWriteAlone = !(error instanceof AppError && error.code === 'DATABASE_ERROR')
        for (const { resolve, reject } of taken) mayWriteAlone ? resolve(ALONE) : reject(error)
      },
    )
  }

  return async (item) => {
    goOn()
    const result = await new Promise<Result | Alone>((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (waiting.length > asked * MAX_ITEMS) ask()
    })
    return result === ALONE ? store.write((tx) => alone(tx, item)) : result
  }
}
