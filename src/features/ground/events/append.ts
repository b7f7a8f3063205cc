/**
 * Appends events of the service and of clients. An event is a stored row: something that a contact
 * did or that happened to an email. `features/insight/activity` shows events to people, with the emails
 * that they belong to; conditions and followers read events themselves.
 *
 * `seq` follows the order of commits, so that a handler with a stored cursor gets each event once
 * and in order. Events of an email store only the data that the email's row does not have.
 */
import { eachOf, jsonItem } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { events } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export type NewEvent = {
  projectId: string
  name: string
  contactId: string | null
  emailId: string | null
  /** The data of the event; any JSON for an event of a client. */
  data: unknown
  at: number
  /**
   * For an event that an execution of a workflow made: how many executions, one after the other,
   * led to the event.
   */
  depth?: number | undefined
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
    depth: parameter('depth'),
  }),
)

/**
 * Inserts one event for each contact. `rows`: a list of [id of the event, id of the contact,
 * depth].
 */
const insertForContacts = statement(
  () => sql`insert into events (id, project_id, name, contact_id, data, created_at, depth)
    select ${jsonItem(sql`row.value`, 0)}, ${parameter('projectId')}, ${parameter('name')},
      ${jsonItem(sql`row.value`, 1)}, ${parameter('data')}, ${parameter('createdAt')},
      ${jsonItem(sql`row.value`, 2)}
    from ${eachOf(parameter('rows'))} as row`,
)

/** Returns the id of the new event. */
export async function appendEvent(tx: Tx, event: NewEvent): Promise<string> {
  const row = toRow(event)
  await tx.execute(insertEvent, row)
  return row.id
}

/** Appends many events; `seq` follows their order. Returns their ids. */
export async function appendEvents(tx: Tx, events: readonly NewEvent[]): Promise<string[]> {
  const rows = events.map(toRow)
  await tx.insertRows(insertEvent, rows)
  return rows.map(({ id }) => id)
}

/**
 * Appends one event for many contacts, in a third of the time of `appendEvents`; `seq` follows
 * their order. `depths`: the depth of the event by contact, for events that an execution led to.
 */
export async function appendForContacts(
  tx: Tx,
  { projectId, name, data, at }: Omit<NewEvent, 'contactId' | 'emailId' | 'depth'>,
  contactIds: readonly string[],
  depths: ReadonlyMap<string, number> = new Map(),
): Promise<void> {
  if (contactIds.length === 0) return
  await tx.execute(insertForContacts, {
    projectId,
    name,
    data: data === null ? null : JSON.stringify(data),
    createdAt: at,
    rows: JSON.stringify(contactIds.map((id) => [newId(), id, depths.get(id) ?? null])),
  })
}

function toRow({ at, depth, ...event }: NewEvent) {
  return { ...event, id: newId(), createdAt: at, depth: depth ?? null }
}
