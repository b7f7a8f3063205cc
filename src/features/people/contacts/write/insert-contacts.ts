/** Inserts new contacts of any projects. */
import { eachOf, jsonItem } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

const insertOne = statement((db) =>
  db.insert(contacts).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    address: parameter('address'),
    subscribed: parameter('subscribed'),
    data: parameter('data'),
    createdAt: parameter('createdAt'),
    updatedAt: parameter('updatedAt'),
  }),
)

const item = (index: number) => jsonItem(sql`value`, index)

/**
 * Inserts rows `[id, project, address, subscribed, data, created at, updated at]`, with the data as JSON text. With
 * one statement per row, SQLite would copy the pages that the triggers change each time.
 */
const insertMany = statement(
  () => sql`insert into contacts (id, project_id, email, subscribed, data, created_at, updated_at)
    select ${item(0)}, ${item(1)}, ${item(2)}, ${item(3)}, ${item(4)}, ${item(5)}, ${item(6)}
    from ${eachOf(parameter('rows'))}`,
)

/** Inserts the contacts in the given order, which becomes their order in lists. */
export async function insertContacts(tx: Tx, added: readonly Contact[]): Promise<void> {
  const [first, ...others] = added
  if (first === undefined) return
  if (others.length === 0) await tx.execute(insertOne, first)
  else await tx.execute(insertMany, { rows: JSON.stringify(added.map(toRow)) })
}

function toRow({ id, projectId, address, subscribed, data, createdAt, updatedAt }: Contact) {
  return [
    id,
    projectId,
    address,
    subscribed,
    data === null ? null : JSON.stringify(data),
    createdAt,
    updatedAt,
  ]
}
