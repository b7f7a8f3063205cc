/**
 * The last numbers that tables have given to their rows, in memory: who follows the new rows of a table
 * reads only after some were added. SQLite keeps a number for each table with AUTOINCREMENT, and gives
 * none twice, also after the newest rows were deleted.
 */
import type { Connection } from '../connection.ts'

type Numbers = ReadonlyMap<string, number>

export type LastNumbers = {
  /** The last number of a table's committed rows; 0 before the first row. */
  of(table: string): number
  /**
   * Reads the numbers of all tables; within a transaction those of its own new rows, too. @throws SQLite's
   * error
   */
  read(): Numbers
  /** Makes the numbers known, once they are committed. */
  set(numbers: Numbers): void
}

const NO_NUMBERS: Numbers = new Map()

/** `connection`: the writer's. */
export function createLastNumbers(connection: Connection): LastNumbers {
  const hasNumbers = connection.value(
    "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'",
  )()
  const read = (): Numbers =>
    hasNumbers === 0
      ? NO_NUMBERS
      : new Map(connection.run('SELECT name, seq FROM sqlite_sequence', [], 'rows') as Rows)
  let known = read()
  return {
    of: (table) => known.get(table) ?? 0,
    read,
    set: (numbers) => {
      known = numbers
    },
  }
}

type Rows = [name: string, seq: number][]
