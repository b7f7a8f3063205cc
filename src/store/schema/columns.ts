/**
 * Column types that every area uses. The tables in this folder match `migrations/`: ids are UUIDv7
 * text, instants integer epoch milliseconds (columns ending in _at), booleans integers, JSON text.
 */
import { customType, integer, text } from '../drizzle.ts'
import { packSteps, type StoredStep, unpackSteps } from './packed-steps.ts'

export const bool = (name: string) => integer(name, { mode: 'boolean' })
export const jsonColumn = (name: string) => text(name, { mode: 'json' })
export const stepList = customType<{ data: StoredStep[]; driverData: string }>({
  dataType: () => 'text',
  toDriver: packSteps,
  fromDriver: unpackSteps,
})
