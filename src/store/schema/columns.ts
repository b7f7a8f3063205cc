/**
 * Column types of drizzle for the tables in this folder, which `npm run schema` makes from the migrations: ids are
 * UUIDv7 text, instants integer epoch milliseconds (columns ending in _at), booleans integers, JSON text.
 */

import { parseJsonText } from '../../base/json-text.ts'
import { customType, integer } from '../drizzle.ts'
import { packSteps, type StoredStep, unpackSteps } from './packed-steps.ts'

export const bool = (name: string) => integer(name, { mode: 'boolean' })
/** Names within may be of strangers. */
export const jsonColumn = customType<{ data: unknown; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => JSON.stringify(value),
  fromDriver: parseJsonText,
})
export const stepList = customType<{ data: StoredStep[]; driverData: string }>({
  dataType: () => 'text',
  toDriver: packSteps,
  fromDriver: unpackSteps,
})
