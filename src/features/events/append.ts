/**
 * Every event, ours and the client's, is a row; `seq` is given by the writer at commit, so that a
 * follower with a stored cursor sees each once and in order. Service events keep only what their
 * email row does not have.
 */
import { newId } from '../../store/ids.ts'
import { events } from '../../store/schema.ts'
import { parameter, statement, type Tx } from '../../store/store.ts'

export type NewEvent = {
  projectId: string
  name: string
  contactId: string | null
  emailId: string | null
  data: Record<string, unknown> | null
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

export async function appendEvent(tx: Tx, event: NewEvent): Promise<string> {
  const id = newId()
  await tx.execute(insertEvent, { ...event, id, createdAt: event.at })
  return id
}
