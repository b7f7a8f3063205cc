/** Filters on the events of a contact. Each is a seek in the index of its events by name. */

import type { OperatorOf } from '../../../records/operators.ts'
import { jsonValue } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { events } from '../../../store/schema/events.ts'
import { emails } from '../../../store/schema/messages.ts'
import { isAutomaticRow, RECEIVED } from './automatic-mail.ts'

type EventFilter = {
  /** As stored. Of bounces only final ones count, of received mail only that of a person. */
  name: string
  operator: OperatorOf<'event'>
  /** The start of the span, for operators with one. */
  since: number
  /** Only events of the email that this campaign sent to the contact: there is one at most. */
  campaignId?: string | undefined
}

/**
 * Returns an expression that is 1 or 0 (or null for `triggeredOlderThan`) for a row of `contacts`.
 */
export function compileEventFilter({ name, operator, since, campaignId }: EventFilter): SQL {
  const happened = sql`from ${events} where ${events.contactId} = ${contacts.id}
    and ${events.name} = ${name}${ofCampaign(campaignId)}${alsoRequired(name)}`
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

function ofCampaign(id: string | undefined): SQL {
  if (id === undefined) return sql``
  return sql` and ${events.emailId} = (select ${emails.id} from ${emails}
    where ${emails.campaignId} = ${id} and ${emails.contactId} = ${contacts.id})`
}

function alsoRequired(name: string): SQL {
  if (name === 'email.bounce') {
    return sql` and coalesce(${jsonValue(events.data, 'transientBounce')}, 0) <> 1`
  }
  return name === RECEIVED ? sql` and not ${isAutomaticRow}` : sql``
}
