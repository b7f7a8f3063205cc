import {
  type Db,
  type Run,
  type Statement,
  type Statements,
  StoreDb,
  type Values,
} from '../database.ts'

type Building = 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'with' | '$with'
type Running = 'run' | 'all' | 'get' | 'values' | '$count'

/** What a closure of `store.write` works with, until the closure settles. */
export type Tx = Pick<Db, Building | Running> &
  Statements & {
    /** Runs `fn` once the closure's work is durable, and never otherwise: wake-ups, caches. */
    afterCommit(fn: () => void): void
    /**
     * Lets the event loop turn when a heavy write has held it for some milliseconds; the transaction
     * stays open. A light write shares its transaction with others: for it this does nothing.
     */
    othersTurn(): Promise<void>
  }

/** Of a heavy write, run at a stretch. */
const SLICE = 50

/**
 * One closure's handle. Queries that it starts, or builders that it made and somebody awaits, after
 * the closure has settled are a TypeError: by then another closure's work is under way.
 */
export class Transaction extends StoreDb implements Tx {
  #isAlive: boolean
  readonly #turnOver: (() => Promise<void>) | undefined
  readonly afterCommits: (() => void)[] = []

  /** `turnOver`: undefined for a light write. */
  constructor(run: Run, turnOver?: () => Promise<void>) {
    super((text, params, shape) => {
      this.#assertAlive()
      return run(text, params, shape)
    })
    this.#isAlive = true
    this.#turnOver = turnOver
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  afterCommit(fn: () => void): void {
    this.#assertAlive()
    this.afterCommits.push(fn)
  }

  async othersTurn(): Promise<void> {
    this.#assertAlive()
    await this.#turnOver?.()
    this.#assertAlive()
  }

  override async executeEach(
    statement: Statement<unknown>,
    values: readonly Values[],
  ): Promise<number[]> {
    if (this.#turnOver === undefined) return super.executeEach(statement, values)
    const changed: number[] = []
    for (let start = 0; start < values.length; start += SLICE) {
      changed.push(...(await super.executeEach(statement, values.slice(start, start + SLICE))))
      await this.othersTurn()
    }
    return changed
  }

  end(): void {
    this.#isAlive = false
  }

  #assertAlive(): void {
    if (!this.#isAlive) throw new TypeError('The closure of this transaction has settled.')
  }
}
