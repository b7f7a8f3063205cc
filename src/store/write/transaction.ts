import {
  type Db,
  type ParameterValues,
  type RunSql,
  type Statement,
  type Statements,
  StoreDb,
} from '../database.ts'

type Building = 'select' | 'selectDistinct' | 'insert' | 'update' | 'delete' | 'with' | '$with'
type RunMethod = 'run' | 'all' | 'get' | 'values' | '$count'

/** A transaction or a read connection, for the selects of drizzle. */
export type Queries = Pick<Tx, 'select'>

/** The handle of a closure of `store.write`, valid until the closure settles. */
export type Tx = Pick<Db, Building | RunMethod> &
  Statements & {
    /**
     * Runs `fn` once the closure's work is durable, and never otherwise. For notifiers and caches.
     */
    afterCommit(fn: () => void): void
    /**
     * Yields to the event loop if a heavy write has run for some milliseconds; the transaction
     * stays open. Does nothing in a light write, which shares its transaction with others.
     */
    yieldToLoop(): Promise<void>
    /** Whether a statement of the closure may have changed the database. */
    hasWritten(): boolean
  }

type TransactionOptions = {
  run: RunSql
  writes: () => number
  yieldIfDue: (() => Promise<void>) | undefined
}

/** The number of statements, or of rows, after which a heavy write may yield to the event loop. */
const SLICE = 50

/**
 * The handle of one closure. Once the closure has settled, its queries and builders throw a
 * TypeError, because another closure is running by then.
 */
export class Transaction extends StoreDb implements Tx {
  #isOpen: boolean
  readonly #yieldIfDue: (() => Promise<void>) | undefined
  readonly #writes: () => number
  readonly #writesBefore: number
  readonly afterCommits: (() => void)[] = []

  /** `writes`: of the connection. `yieldIfDue`: undefined for a light write. */
  constructor({ run, writes, yieldIfDue }: TransactionOptions) {
    super((text, params, shape) => {
      this.#assertOpen()
      return run(text, params, shape)
    })
    this.#isOpen = true
    this.#yieldIfDue = yieldIfDue
    this.#writes = writes
    this.#writesBefore = writes()
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  afterCommit(fn: () => void): void {
    this.#assertOpen()
    this.afterCommits.push(fn)
  }

  async yieldToLoop(): Promise<void> {
    this.#assertOpen()
    await this.#yieldIfDue?.()
    this.#assertOpen()
  }

  hasWritten(): boolean {
    return this.#writes() > this.#writesBefore
  }

  override async executeEach(
    statement: Statement<unknown>,
    values: readonly ParameterValues[],
  ): Promise<number[]> {
    if (this.#yieldIfDue === undefined) return super.executeEach(statement, values)
    const changed: number[] = []
    for (let start = 0; start < values.length; start += SLICE) {
      changed.push(...(await super.executeEach(statement, values.slice(start, start + SLICE))))
      await this.yieldToLoop()
    }
    return changed
  }

  override async insertRows(
    insert: Statement<unknown>,
    rows: readonly ParameterValues[],
  ): Promise<void> {
    if (this.#yieldIfDue === undefined) return super.insertRows(insert, rows)
    for (let start = 0; start < rows.length; start += SLICE) {
      await super.insertRows(insert, rows.slice(start, start + SLICE))
      await this.yieldToLoop()
    }
  }

  end(): void {
    this.#isOpen = false
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new TypeError('The closure of this transaction has settled.')
  }
}
