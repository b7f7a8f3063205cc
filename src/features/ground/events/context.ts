/**
 * The data of an event as workflows see it: non-persistent values are unwrapped, and an event of an email
 * has the base data of the email.
 */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type EventEmail, emailEventData, eventEmailColumns } from './email-data.ts'
import { unwrapEventData } from './non-persistent.ts'

type ContextEvent = Pick<EventRow, 'seq' | 'name' | 'data' | 'emailId'>

const listEmails = statement((db) =>
  db
    .select(eventEmailColumns)
    .from(emails)
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

/** Returns a function that gives the data of each of the events. */
export async function readEventContexts(
  queries: Pick<Tx, 'list'>,
  events: readonly ContextEvent[],
): Promise<(event: ContextEvent) => Record<string, unknown>> {
  const ids = [...new Set(events.filter(isOfEmail).map(({ emailId }) => emailId))]
  const rows = ids.length === 0 ? [] : await queries.list(listEmails, { ids: JSON.stringify(ids) })
  const found = new Map<string, EventEmail>(rows.map((row) => [row.id, row]))
  return (event) => {
    const data = unwrapEventData(event.data)
    const email = isOfEmail(event) ? found.get(event.emailId ?? '') : undefined
    return email === undefined ? data : emailEventData({ name: event.name, data }, email)
  }
}

/** An event of a client may name an email, but its data are not those of an email's event. */
function isOfEmail({ name, emailId }: ContextEvent): boolean {
  return emailId !== null && name.startsWith('email.')
}
