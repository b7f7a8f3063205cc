/** Keys of the record that the path of a call names by a UUID. */
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

/** As `uuidKeyOf`, with `seesSecrets`: whether the caller may see secrets. */
export function viewedKeyOf(call: ProjectCall<unknown, unknown>) {
  return { ...uuidKeyOf(call), seesSecrets: seesSecrets(call.caller) }
}

/** As `viewedKeyOf`, for a change: `report` tells the client of names that nothing reads. */
export function editedKeyOf(call: ProjectCall<unknown, unknown>) {
  return { ...viewedKeyOf(call), report: call.reportUnknown }
}

/** Another UUID of the path. @throws AppError VALIDATION_ERROR */
export function uuidParameterOf(call: ProjectCall<unknown, unknown>, name: string): string {
  const found = validate(z.object({ [name]: id }), { [name]: call.params[name] })
  return found[name] ?? ''
}
