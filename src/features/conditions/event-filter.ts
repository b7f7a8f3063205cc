/** Filters on what happened to a contact, each a seek into its events of that name. */
import { jsonValue } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import { events } from '../../store/schema/events.ts'
import type { OperatorOf } from './operators.ts'

export type EventFilter = {
  /** As stored. A bounce that was not the end, `transientBounce` in its data, is no `email.bounce`. */
  name: string
  operator: OperatorOf<'event'>
  /** Of those with a span: the instant that it reaches back to. */
  since: number
}

/** 1 or 0, of `triggeredOlderThan` also null, for a row of `contacts`. */
export function compileEventFilter({ name, operator, since }: EventFilter): SQL {
  const happened = sql`from ${events} where ${events.contactId} = ${contacts.id}
    and ${events.name} = ${name}${name === 'email.bounce' ? sql` and ${isFinal()}` : sql``}`
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

function isFinal(): SQL {
  return sql`coalesce(${jsonValue(events.data, 'transientBounce')}, 0) <> 1`
}
