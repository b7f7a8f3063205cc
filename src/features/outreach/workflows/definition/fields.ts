/**
 * Lists the fields that a CONDITION can ask for: fields of the contact, of the contact's data, and
 * of the event.
 */
import type { WorkflowFields } from '../../../../records/workflow.ts'
import type { Base } from '../../../ground/base.ts'
import { storedEventName } from '../../../ground/conditions/field.ts'
import { listContactFields } from '../../../people/contacts/fields/fields.ts'
import { listEventKeys } from './event-fields.sqlite.ts'

type TypedField = WorkflowFields['typedFields'][number]

const CONTACT_FIELDS: readonly TypedField[] = [
  { field: 'contact.email', type: 'string', category: 'Contact Fields' },
  { field: 'contact.subscribed', type: 'boolean', category: 'Contact Fields' },
]

/** Keys that an execution sees in the events of an email, in addition to the data in their rows. */
export const EMAIL_KEYS: readonly string[] = [
  ...['subject', 'from', 'fromName', 'messageId', 'emailId', 'templateId', 'campaignId'],
  'sourceType',
]

const TYPES: Readonly<Record<string, TypedField['type']>> = {
  true: 'boolean',
  false: 'boolean',
  integer: 'number',
  real: 'number',
}

/**
 * Lists the fields. `eventName`: the event whose fields are listed, as found in the data of its
 * last hundred events.
 */
export async function listWorkflowFields(
  deps: Pick<Base, 'store'>,
  { projectId, eventName }: { projectId: string; eventName?: string | undefined },
): Promise<WorkflowFields> {
  const [{ fields }, ofEvent] = await Promise.all([
    listContactFields(deps, projectId),
    eventName === undefined ? [] : listEventFields(deps, { projectId, eventName }),
  ])
  const custom = fields
    .filter(({ field }) => field.startsWith('data.'))
    .map(({ field, type }): TypedField => ({ field, type, category: 'Custom Data' }))
  const typedFields = [...CONTACT_FIELDS, ...custom, ...ofEvent]
  const names = typedFields.map(({ field }) => field)
  return { fields: names, typedFields, count: names.length }
}

async function listEventFields(
  { store }: Pick<Base, 'store'>,
  { projectId, eventName }: { projectId: string; eventName: string },
): Promise<TypedField[]> {
  const name = storedEventName(eventName)
  const types = new Map<string, TypedField['type']>()
  if (name.startsWith('email.')) for (const key of EMAIL_KEYS) types.set(key, 'string')
  // The query lists the most frequent type of a key first.
  for (const { key, type } of await store.scan.list(listEventKeys, { projectId, name })) {
    if (!types.has(key)) types.set(key, TYPES[type] ?? 'string')
  }
  return [...types].map(([key, type]) => ({ field: `event.${key}`, type, category: 'Event Data' }))
}
