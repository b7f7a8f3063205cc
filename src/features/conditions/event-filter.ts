/** Filters on the events of a contact. Each is a seek in the index of its events by name. */
import { jsonValue } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import { events } from '../../store/schema/events.ts'
import { isAutomaticRow, RECEIVED } from './automatic-mail.ts'
import type { OperatorOf } from './operators.ts'

type EventFilter = {
  /** As stored. Of bounces only final ones count, of received mail only that of a person. */
  name: string
  operator: OperatorOf<'event'>
  /** The start of the span, for operators with one. */
  since: number
}

/**
 * Returns an expression that is 1 or 0 (or null for `triggeredOlderThan`) for a row of `contacts`.
 */
export function compileEventFilter({ name, operator, since }: EventFilter): SQL {
  const happened = sql`from ${events} where ${events.contactId} = ${contacts.id}
    and ${events.name} = ${name}${alsoRequired(name)}`
  const recently = sql`exists (select 1 ${happened} and ${events.createdAt} >= ${since})`
  switch (operator) {
    case 'triggered':
      return sql`exists (select 1 ${happened})`
    case 'notTriggered':
      return sql`not exists (select 1 ${happened})`
    case 'triggeredWithin':
      return recently
    case 'notTriggeredWithin':
      return sql`not ${recently}`
    case 'triggeredOlderThan':
      return sql`(select ${events.createdAt} ${happened}
        order by ${events.createdAt} desc limit 1) < ${since}`
  }
}

function alsoRequired(name: string): SQL {
  if (name === 'email.bounce') {
    return sql` and coalesce(${jsonValue(events.data, 'transientBounce')}, 0) <> 1`
  }
  return name === RECEIVED ? sql` and not ${isAutomaticRow}` : sql``
}
