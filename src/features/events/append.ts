/**
 * Every event, ours and the client's, is a row; `seq` is given by the writer at commit, so that a
 * follower with a stored cursor sees each once and in order. Service events keep only what their
 * email row does not have.
 */
import { eachOf, jsonItem } from '../../store/dialect.ts'
import { sql } from '../../store/drizzle.ts'
import { newId } from '../../store/ids.ts'
import { events } from '../../store/schema/events.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'

export type NewEvent = {
  projectId: string
  name: string
  contactId: string | null
  emailId: string | null
  /** Of a client's event any JSON. */
  data: unknown
  at: number
}

const insertEvent = statement((db) =>
  db.insert(events).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    name: parameter('name'),
    contactId: parameter('contactId'),
    emailId: parameter('emailId'),
    data: parameter('data'),
    createdAt: parameter('createdAt'),
  }),
)

/** `rows`: pairs of the event's id and its contact's. */
const insertForContacts = statement(
  () => sql`insert into events (id, project_id, name, contact_id, data, created_at)
    select ${jsonItem(sql`row.value`, 0)}, ${parameter('projectId')}, ${parameter('name')},
      ${jsonItem(sql`row.value`, 1)}, ${parameter('data')}, ${parameter('createdAt')}
    from ${eachOf(parameter('rows'))} as row`,
)

/** The new event's id. */
export async function appendEvent(tx: Tx, event: NewEvent): Promise<string> {
  const row = toRow(event)
  await tx.execute(insertEvent, row)
  return row.id
}

/** Many at once; their `seq` follows the order given. */
export async function appendEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  await tx.executeEach(insertEvent, events.map(toRow))
}

/**
 * The same event of many contacts, in a third of the time; their `seq` follows the order given.
 */
export async function appendForContacts(
  tx: Tx,
  { projectId, name, data, at }: Omit<NewEvent, 'contactId' | 'emailId'>,
  contactIds: readonly string[],
): Promise<void> {
  if (contactIds.length === 0) return
  await tx.execute(insertForContacts, {
    projectId,
    name,
    data: data === null ? null : JSON.stringify(data),
    createdAt: at,
    rows: JSON.stringify(contactIds.map((contactId) => [newId(), contactId])),
  })
}

function toRow({ at, ...event }: NewEvent) {
  return { ...event, id: newId(), createdAt: at }
}
