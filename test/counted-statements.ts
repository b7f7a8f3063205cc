/** Counts the prepared statements of the closures of a store's writes. */
import type { ParameterValues, Statement } from '../src/store/database.ts'
import type { Store } from '../src/store/store.ts'
import type { Tx } from '../src/store/write/transaction.ts'

export type CountedStatements = {
  /** In place of the store's. */
  write: Store['write']
  /** The text of each statement since the last call, once for each time that it ran, or inserted rows. */
  take(): string[]
}

export function countStatements({ write }: Pick<Store, 'write'>): CountedStatements {
  let texts: string[] = []

  function counting(tx: Tx): Tx {
    const note = (statement: Statement<unknown>, times = 1) => {
      for (let index = 0; index < times; index += 1) texts.push(statement.compiled().text)
    }
    const own: Pick<Tx, 'execute' | 'executeEach' | 'insertRows' | 'find' | 'list'> = {
      execute(statement, values) {
        note(statement)
        return tx.execute(statement, values)
      },
      executeEach(statement, values: readonly ParameterValues[]) {
        note(statement, values.length)
        return tx.executeEach(statement, values)
      },
      insertRows(statement, rows: readonly ParameterValues[]) {
        if (rows.length > 0) note(statement)
        return tx.insertRows(statement, rows)
      },
      find(statement, values) {
        note(statement)
        return tx.find(statement, values)
      },
      list(statement, values) {
        note(statement)
        return tx.list(statement, values)
      },
    }
    return new Proxy(tx, {
      get(target, name) {
        if (name in own) return own[name as keyof typeof own]
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  return {
    write: (fn, options) => write((tx) => fn(counting(tx)), options),
    take() {
      const taken = texts
      texts = []
      return taken
    },
  }
}
