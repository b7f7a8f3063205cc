import { type Db, type Run, type Statements, StoreDb } from './database.ts'

type Building = 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'with' | '$with'
type Running = 'run' | 'all' | 'get' | 'values' | '$count'

/** What a closure of `store.write` works with, until the closure settles. */
export type Tx = Pick<Db, Building | Running> &
  Statements & {
    /** Runs `fn` once the closure's work is durable, and never otherwise: wake-ups, caches. */
    afterCommit(fn: () => void): void
  }

/**
 * One closure's handle. Queries that it starts, or builders that it made and somebody awaits, after
 * the closure has settled are a TypeError: by then another closure's work is under way.
 */
export class Transaction extends StoreDb implements Tx {
  #isAlive: boolean
  readonly afterCommits: (() => void)[] = []

  constructor(run: Run) {
    super((text, params, shape) => {
      this.#assertAlive()
      return run(text, params, shape)
    })
    this.#isAlive = true
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  afterCommit(fn: () => void): void {
    this.#assertAlive()
    this.afterCommits.push(fn)
  }

  end(): void {
    this.#isAlive = false
  }

  #assertAlive(): void {
    if (!this.#isAlive) throw new TypeError('The closure of this transaction has settled.')
  }
}
