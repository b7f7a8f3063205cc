/**
 * The depth of an event: how many executions led to it, one after the other. An execution that the event
 * starts has the same depth.
 *
 * An execution writes the depth into the events that it records. Events of its emails follow later, by many
 * ways. Their depth is found here, by the execution that the row of the email names, so that no email costs
 * more for its depth.
 *
 * What a person does has the depth 0, even in mail of a workflow: a click, a complaint, an answer, an
 * unsubscription by a link. A chain through a person is no faster than the person. Opens have the depth of
 * their email, because many mail programs load images on their own. Hits of machines are no events at all,
 * and an answer that a machine sent has a depth of its own (`receiving/process/own-mail.ts`).
 */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

type Caused = Pick<EventRow, 'name' | 'data' | 'emailId' | 'depth'>

const OF_PERSONS: ReadonlySet<string> = new Set([
  'email.click',
  'email.complaint',
  'email.received',
])

/** The reason of an unsubscription that a bounce caused, and no person. */
const OF_BOUNCE = 'bounce'

const listDepths = statement<{ emailId: string; depth: number }>(
  () => sql`select emails.id as "emailId", execution.depth + 1 as depth from emails
    join workflow_executions as execution on execution.id = emails.workflow_execution_id
    where emails.id in ${listOf(parameter('ids'))}`,
)

/**
 * Whether events of this name happen without a person. The depth of such an event is that of its
 * email.
 */
export function isOfMail(name: string): boolean {
  return name.startsWith('email.') && !OF_PERSONS.has(name)
}

/** Returns a function that gives the depth of each event; 0 if no execution led to the event. */
export async function readEventDepths(
  queries: Pick<Tx, 'list'>,
  events: readonly Caused[],
): Promise<(event: Caused) => number> {
  const ids = [...new Set(events.filter(followsFromMail).map(({ emailId }) => emailId))]
  const depths = await depthsOfEmails(queries, ids)
  return (event) =>
    event.depth ?? (followsFromMail(event) ? depths.get(event.emailId ?? '') : undefined) ?? 0
}

/**
 * Returns, by id of an email, the depth of events that follow from it. Only emails that executions
 * made are in the map.
 */
export async function depthsOfEmails(
  queries: Pick<Tx, 'list'>,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map()
  const rows = await queries.list(listDepths, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ emailId, depth }) => [emailId, depth]))
}

function followsFromMail({ name, data, emailId, depth }: Caused): boolean {
  if (emailId === null || depth !== null) return false
  return isOfMail(name) || (name === 'contact.unsubscribed' && data?.reason === OF_BOUNCE)
}
