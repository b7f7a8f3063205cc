/**
 * Writes items that wait at the same time in one closure, so that one statement can serve many of them.
 * The closure takes what waits when its turn in the group comes, as much as a light write may do. Items are
 * written in the order in which they came; one that is written alone, later than those behind it.
 *
 *   `together` returns a result     the item is written, and durable when its promise resolves
 *   `together` returns `ALONE`      nothing was written for the item: `alone` writes it, in a closure of
 *                                   its own, with its own error
 *   `together` or a `finish` throws nothing of the batch was written: each item is written alone
 *   the transaction fails           all callers get its DATABASE_ERROR
 */
import { AppError } from '../../base/errors.ts'
import { goOn } from '../../turns/owner.ts'
import type { Store } from '../store.ts'
import type { Tx } from './transaction.ts'

/** The result for an item that no other item may share a closure with. */
export const ALONE = Symbol('alone')

export type Alone = typeof ALONE

/** The most weight that one closure writes. An item weighs at least 1, which is about 80 us. */
const MAX_WEIGHT = 64

type Writes<Item, Written> = {
  /**
   * Writes the items, and returns what was written for each, in their order. May run twice, as any closure
   * may (`Store.write`).
   */
  together(tx: Tx, items: readonly Item[]): Promise<(Written | Alone)[]>
  /** Writes one item. @throws the error that the caller gets */
  alone(tx: Tx, item: Item): Promise<Written>
  /** The weight of an item: the number of small items that take as long; 1 if absent. */
  weigh?(item: Item): number
}

/**
 * Writes one item, and what `finish` writes for it in the same transaction. Resolves to the result of `finish`.
 * @throws errors of `alone` and of `finish`; AppError DATABASE_ERROR when nothing was committed
 */
export type Gatherer<Item, Written> = <Result>(
  item: Item,
  finish: Finish<Written, Result>,
) => Promise<Result>

/** Returns a promise only if it writes. */
type Finish<Written, Result> = (tx: Tx, written: Written) => Promise<Result> | Result

type WaitingWrite<Item, Written> = {
  item: Item
  weight: number
  finish: Finish<Written, unknown>
  resolve(result: unknown): void
  reject(error: unknown): void
}

export function createGatherer<Item, Written>(
  store: Pick<Store, 'write' | 'recountCallers'>,
  { together, alone, weigh = () => 1 }: Writes<Item, Written>,
): Gatherer<Item, Written> {
  let waiting: WaitingWrite<Item, Written>[] = []
  let waitingWeight = 0
  /** Closures that have not taken their items yet. */
  let asked = 0

  function take(): WaitingWrite<Item, Written>[] {
    asked -= 1
    let weight = 0
    const isOver = (each: WaitingWrite<Item, Written>, index: number) => {
      if (index > 0 && weight + each.weight > MAX_WEIGHT) return true
      weight += each.weight
      return false
    }
    const end = waiting.findIndex(isOver)
    const taken = waiting
    waiting = end === -1 ? [] : taken.splice(end)
    waitingWeight -= weight
    return taken
  }

  async function write(tx: Tx, taken: readonly WaitingWrite<Item, Written>[]): Promise<unknown[]> {
    const items = taken.map(({ item }) => item)
    const written = await together(tx, items)
    if (written.length !== items.length) throw new TypeError('each item needs one result')
    const results: unknown[] = []
    for (const [index, { finish }] of taken.entries()) {
      const own = written[index] as Written | Alone
      const result = own === ALONE ? ALONE : finish(tx, own)
      results.push(result instanceof Promise ? await result : result)
    }
    return results
  }

  /** Asks for as many closures as those that wait may need. */
  function askIfNeeded(): void {
    if (waiting.length > 0 && (asked === 0 || waitingWeight > asked * MAX_WEIGHT)) ask()
  }

  function ask(): void {
    asked += 1
    let taken: WaitingWrite<Item, Written>[] | undefined
    const run = (tx: Tx) => {
      taken ??= take()
      return taken.length === 0 ? Promise.resolve([]) : write(tx, taken)
    }
    const callers = () => taken?.length ?? Math.ceil(waiting.length / asked)
    const settled = store.write(run, { callers }).then(
      (results) => {
        for (const [index, result] of results.entries()) taken?.[index]?.resolve(result)
      },
      (error) => {
        taken ??= take()
        const mayWriteAlone = !(error instanceof AppError && error.code === 'DATABASE_ERROR')
        for (const { resolve, reject } of taken) mayWriteAlone ? resolve(ALONE) : reject(error)
      },
    )
    // The items of a closure may be fewer than it was asked for.
    void settled.then(askIfNeeded)
  }

  return async <Result>(item: Item, finish: Finish<Written, Result>): Promise<Result> => {
    goOn()
    const result = await new Promise<unknown>((resolve, reject) => {
      const weight = Math.max(1, weigh(item))
      waiting.push({ item, weight, finish, resolve, reject })
      waitingWeight += weight
      askIfNeeded()
      // The item may join a closure that waits until it has enough callers.
      store.recountCallers()
    })
    if (result !== ALONE) return result as Result
    return store.write(async (tx) => finish(tx, await alone(tx, item)))
  }
}
