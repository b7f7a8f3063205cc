import { eachOf, jsonItem } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

type Written = Pick<Contact, 'id' | 'data' | 'updatedAt'>

const item = (index: number) => jsonItem(sql`row.value`, index)

/**
 * `rows`: lists of an id, the data as JSON text, and an instant. One statement, because triggers read the data:
 * with one for each contact, SQLite would copy the pages that they change each time.
 */
const saveData = statement(
  () => sql`update contacts set data = ${item(1)}, updated_at = ${item(2)}
    from ${eachOf(parameter('rows'))} as row where contacts.id = ${item(0)}`,
)

/** Writes the data of contacts that exist, and nothing else of them. */
export async function writeContactData(tx: Tx, contacts: readonly Written[]): Promise<void> {
  if (contacts.length === 0) return
  const rows = contacts.map(({ id, data, updatedAt }) => [
    id,
    data === null ? null : JSON.stringify(data),
    updatedAt,
  ])
  await tx.execute(saveData, { rows: JSON.stringify(rows) })
}
