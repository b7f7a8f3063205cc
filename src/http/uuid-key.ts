/** The record that the path of a call names by its UUID. */
import { z } from 'zod'
import { seesSecrets } from '../features/tenancy/accounts/callers/caller.ts'
import { id } from '../records/fields.ts'
import { type ProjectCall, rowKeyOf } from './route.ts'
import { validate } from './validation.ts'

/** @throws AppError VALIDATION_ERROR for an id that is not a UUID */
export function uuidKeyOf(call: ProjectCall<unknown, unknown>) {
  const { projectId, ...path } = rowKeyOf(call)
  return { projectId, ...validate(z.object({ id }), path) }
}

/** The same, with what the caller is shown of the record. */
export function viewedKeyOf(call: ProjectCall<unknown, unknown>) {
  return { ...uuidKeyOf(call), seesSecrets: seesSecrets(call.caller) }
}

/** The same, for a change: names in it that nothing reads are reported to the client. */
export function editedKeyOf(call: ProjectCall<unknown, unknown>) {
  return { ...viewedKeyOf(call), report: call.reportUnknown }
}

/** Another UUID of the path. @throws AppError VALIDATION_ERROR */
export function uuidParameterOf(call: ProjectCall<unknown, unknown>, name: string): string {
  const found = validate(z.object({ [name]: id }), { [name]: call.params[name] })
  return found[name] ?? ''
}
