/**
 * Filters on the columns of contacts, which are never null, and on the events of a contact. Each
 * filter on events is a seek in the index of a contact's events by name.
 */
import { DAY_MS, parseInstant } from '../../../base/clock.ts'
import { comparable } from '../../../base/nfc.ts'
import { parseShownAddress } from '../../../formats/address/named-mailbox.ts'
import type { OperatorOf } from '../../../records/operators.ts'
import { contains, jsonValue, listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { events } from '../../../store/schema/events.ts'
import { emails } from '../../../store/schema/messages.ts'
import { isAutomaticRow, RECEIVED } from './automatic-mail.ts'
import { startOfUtcDay } from './dates.ts'

type InstantFilter = {
  column: 'createdAt' | 'updatedAt'
  operator: OperatorOf<'instant'>
  value: unknown
  /** Where the span of `within` and `olderThan` begins (epoch ms). */
  since: number
}

type EventFilter = {
  /** The stored name of the event. Only final bounces count, and only received mail of a person. */
  name: string
  operator: OperatorOf<'event'>
  /** Where the span begins (epoch ms), for operators with a span. */
  since: number
  /**
   * Counts only events of the email that this campaign sent to the contact; there is at most one
   * such email.
   */
  campaignId?: string | undefined
}

/**
 * Compiles a filter on the address; letter case does not matter. `value`: a text, or a list of
 * texts for `in` and `notIn`.
 */
export function compileAddressFilter(operator: OperatorOf<'email'>, value: unknown): SQL {
  if (operator === 'in') return sql`${contacts.address} in ${listOf(normalizeAddresses(value))}`
  if (operator === 'notIn') {
    return sql`${contacts.address} not in ${listOf(normalizeAddresses(value))}`
  }
  const given = String(value)
  const text = comparable(given)
  switch (operator) {
    case 'equals':
      return sql`${contacts.address} = ${normalizeAddress(given)}`
    case 'notEquals':
      return sql`${contacts.address} <> ${normalizeAddress(given)}`
    case 'contains':
      return contains(contacts.address, text)
    case 'notContains':
      return sql`(not ${contains(contacts.address, text)})`
  }
}

export function compileSubscribedFilter(operator: OperatorOf<'subscribed'>, value: unknown): SQL {
  const wanted = (value === true) === (operator === 'equals')
  return sql`${contacts.subscribed} = ${wanted ? 1 : 0}`
}

export function compileInstantFilter({ column, operator, value, since }: InstantFilter): SQL {
  const at = contacts[column]
  const instant = parseInstant(String(value))?.at ?? since
  switch (operator) {
    case 'equals':
      return isOnDay(at, instant)
    case 'notEquals':
      return sql`not ${isOnDay(at, instant)}`
    case 'greaterThan':
      return sql`${at} > ${instant}`
    case 'greaterThanOrEqual':
    case 'within':
      return sql`${at} >= ${instant}`
    case 'lessThan':
    case 'olderThan':
      return sql`${at} < ${instant}`
    case 'lessThanOrEqual':
      return sql`${at} <= ${instant}`
  }
}

/**
 * Normalizes an address like stored addresses (domain in U-labels); other text only gets lower case
 * and NFC.
 */
export function normalizeAddress(text: string): string {
  return parseShownAddress(text)?.address ?? comparable(text).trim()
}

/** `values`: a list of texts. */
export function normalizeAddresses(values: unknown): string[] {
  return (values as unknown[]).map((value) => normalizeAddress(String(value)))
}

/**
 * Returns an SQL expression that is 1 or 0 for a row of `contacts`; for `triggeredOlderThan` it may
 * be null.
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

function isOnDay(at: (typeof contacts)['createdAt' | 'updatedAt'], instant: number): SQL {
  const from = startOfUtcDay(instant)
  return sql`(${at} >= ${from} and ${at} < ${from + DAY_MS})`
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
