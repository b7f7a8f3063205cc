/**
 * The rows of a project, table by table, in the order in which they are erased: the queue first, then
 * what refers to other rows before the rows themselves, which is the reverse of the order of the areas and
 * their tables. Rows that others own go with their owners: attempts with emails, steps of executions with
 * executions.
 */
import { indexedBy, notIndexed } from '../../../store/dialect.ts'
import { getTableName, sql } from '../../../store/drizzle.ts'
import { statement } from '../../../store/statement.ts'
import { billedUntil } from '../../ground/events/unbilled.ts'
import { isOwn, partOf, type TablePart } from '../../ground/manifest/part.ts'
import type { Erasure, TableDuties } from '../../ground/manifest/table.ts'
import { insertErasedEmails } from '../../people/wishes/erased-recipients.ts'

/** Emails, which are the queue; their attempts go with them. */
export const QUEUE = partOf('emails', {
  from: () => sql`emails ${indexedBy('emails_newest')} where ${isOwn}`,
  keep: insertErasedEmails,
})

/** Bodies and attachments, which `erase-mail.ts` deletes. */
export const CONTENTS = partOf('contents')

/**
 * Events that billing has not counted yet. When they are deleted, the database copies them with what
 * billing needs of their emails, so they go before the emails.
 */
export const UNBILLED = partOf('events', {
  from: () => sql`events ${notIndexed()} where seq > ${billedUntil} and ${isOwn}`,
})

/** A deleted event that billing has not counted yet. */
export const findUnbilled = statement<{ found: number }>(
  () => sql`select 1 as found from deleted_events where ${isOwn} and seq > ${billedUntil} limit 1`,
)

/** The rows that a reset or a deletion erases after the queue and its contents, in this order. */
export function listParts(tables: readonly TableDuties[], by: 'reset' | 'deletion'): TablePart[] {
  const ordered = new Map<string, TablePart>()
  const erasures = tables.flatMap(({ erasure }) => (hasPart(erasure) ? [erasure] : [])).reverse()
  const byTable = new Map(erasures.map((erasure) => [erasure.part.table, erasure]))
  for (const { part } of erasures) add(part.table)
  return [...ordered.values()]

  function add(table: string): void {
    const erasure = byTable.get(table)
    if (erasure === undefined || ordered.has(table)) return
    for (const earlier of erasure.after) add(earlier)
    if (by === 'deletion' || erasure.when === 'reset') ordered.set(table, erasure.part)
  }
}

/** Lists the names of the tables whose rows are erased at this time, which may be never. */
export function listErasedTables(tables: readonly TableDuties[], when: Erasure['when']): string[] {
  return tables.flatMap(({ table, erasure }) =>
    erasure?.when === when ? [getTableName(table)] : [],
  )
}

function hasPart(erasure: Erasure | undefined): erasure is Extract<Erasure, { part: TablePart }> {
  return erasure !== undefined && 'part' in erasure
}
