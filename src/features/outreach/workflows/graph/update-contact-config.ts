/** The config of an UPDATE_CONTACT, whose `updates` some clients call `data`. */
import { isDeepStrictEqual } from 'node:util'
import { AppError } from '../../../../base/errors.ts'
import { parseData, RESERVED_KEYS } from '../../../people/contacts/write/data.ts'
import type { ConfigFields } from './config-fields.ts'
import type { UpdateContactConfig } from './step-config.ts'

export function readUpdateContact(fields: ConfigFields): UpdateContactConfig {
  const [updates, data] = [
    fields.object('updates', { isMap: true }),
    fields.object('data', { isMap: true }),
  ]
  if (updates && data && !isDeepStrictEqual(updates.values, data.values)) {
    fields.fail('data', 'custom', 'Differs from updates, which is the same field')
  }
  const given = updates ?? data
  const name = updates === undefined ? 'data' : 'updates'
  const values = given?.values ?? {}
  checkValues(fields, name, values)
  const subscriptionAction = fields.choice('subscriptionAction', [
    'none',
    'subscribe',
    'unsubscribe',
  ])
  const isEffective = Object.keys(values).some((key) => !RESERVED_KEYS.has(key))
  const isWrong = fields.errors.length > 0
  if (!isWrong && !isEffective && (subscriptionAction ?? 'none') === 'none') {
    fields.fail(name === 'data' && given ? 'data' : 'updates', 'custom', 'Would change nothing')
  }
  return {
    ...(given && { updates: values }),
    ...(subscriptionAction && { subscriptionAction }),
  }
}

/** The rules of contact data. */
function checkValues(fields: ConfigFields, name: string, values: unknown): void {
  try {
    parseData(values)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    for (const { field, code, message } of error.fields ?? []) {
      fields.fail(field.replace(/^data/, name), code, message)
    }
  }
}
