/** Fills tables with millions of rows. */
import type Database from 'better-sqlite3'
import type { Progress } from './progress.ts'

type Kept = { type: 'index' | 'trigger'; name: string; sql: string }

const ROWS_BETWEEN_REPORTS = 20_000

/**
 * Runs `fill` without the indexes and triggers of the tables and creates them again afterwards: one
 * sort replaces millions of look-ups. `fill` must write the figures that triggers would maintain.
 */
export function loadTables(
  database: Database.Database,
  tables: readonly string[],
  { fill, progress }: { fill(): void; progress: Progress },
): void {
  const dropped = database
    .prepare(
      `select type, name, sql from sqlite_master where type in ('index', 'trigger')
        and sql is not null and tbl_name in (select value from json_each(?)) order by type, name`,
    )
    .all(JSON.stringify(tables)) as Kept[]
  for (const { type, name } of dropped) database.exec(`drop ${type} ${name}`)
  fill()
  for (const { type, name, sql } of dropped) {
    if (type === 'index') progress.step(name)
    database.exec(sql)
  }
}

/** Inserts `count` rows with values in the order of `columns`. */
export function insertRows(
  database: Database.Database,
  into: { table: string; columns: readonly string[]; count: number; progress: Progress },
  row: (index: number) => readonly unknown[],
): void {
  const { table, columns, count, progress } = into
  progress.step(table)
  const places = columns.map(() => '?').join(', ')
  const insert = database.prepare(`insert into ${table} (${columns.join(', ')}) values (${places})`)
  database.transaction(() => {
    for (let index = 0; index < count; index += 1) {
      insert.run(row(index))
      if (index % ROWS_BETWEEN_REPORTS === 0) progress.at(index, count)
    }
  })()
}
