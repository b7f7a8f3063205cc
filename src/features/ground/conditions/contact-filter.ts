/** Filters on columns of contacts. The columns are never null. */

import { DAY_MS, parseInstant } from '../../../base/clock.ts'
import { normalize } from '../../../base/nfc.ts'
import { parseShownAddress } from '../../../formats/address/named-mailbox.ts'
import type { OperatorOf } from '../../../records/operators.ts'
import { contains, listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { startOfDay } from './dates.ts'

type InstantFilter = {
  column: 'createdAt' | 'updatedAt'
  operator: OperatorOf<'instant'>
  value: unknown
  /** The start of the span of `within` and `olderThan`. */
  since: number
}

/** Ignores letter case. `value`: a text, or a list of texts for `in` and `notIn`. */
export function compileAddressFilter(operator: OperatorOf<'email'>, value: unknown): SQL {
  if (operator === 'in') return sql`${contacts.address} in ${listOf(normalizeAddresses(value))}`
  if (operator === 'notIn') {
    return sql`${contacts.address} not in ${listOf(normalizeAddresses(value))}`
  }
  const given = String(value)
  const text = normalizeAddressPart(given)
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

function isOnDay(at: (typeof contacts)['createdAt' | 'updatedAt'], instant: number): SQL {
  const from = startOfDay(instant)
  return sql`(${at} >= ${from} and ${at} < ${from + DAY_MS})`
}

/**
 * Normalizes an address like stored addresses (domain in U-labels); other text only gets lower case
 * and NFC.
 */
export function normalizeAddress(text: string): string {
  return parseShownAddress(text)?.address ?? normalizeAddressPart(text).trim()
}

/** `values`: a list of texts. */
export function normalizeAddresses(values: unknown): string[] {
  return (values as unknown[]).map((value) => normalizeAddress(String(value)))
}

/** Lower case and NFC, like stored addresses. */
function normalizeAddressPart(text: string): string {
  return normalize(normalize(text).toLowerCase())
}
