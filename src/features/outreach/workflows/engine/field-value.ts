/**
 * The value of a field of CONDITION: `contact.email`, `contact.subscribed`,
 * `data.<path>`, `contact.data.<path>`, `event.<path>` and `workflow.<path>`. Paths have dots and read
 * own properties only; what is left of a path may also be a key that has dots.
 */
import type { Contact } from '../../../../store/schema/contacts.ts'

/** What fields are read from. `context`: the data of the event or request that started the execution. */
export type FieldScope = {
  contact: Pick<Contact, 'address' | 'subscribed' | 'data'>
  context: Record<string, unknown> | null
}

/** Undefined for a missing value and for a field that does not exist. */
export function fieldValue({ contact, context }: FieldScope, field: string): unknown {
  if (field === 'contact.email') return contact.address
  if (field === 'contact.subscribed') return contact.subscribed
  const found = /^(contact\.data|data|event|workflow)\.(.+)$/s.exec(field)
  if (found === null) return undefined
  const [, root, path = ''] = found
  return valueAt(root === 'event' || root === 'workflow' ? context : contact.data, path)
}

function valueAt(root: unknown, path: string): unknown {
  if (typeof root !== 'object' || root === null) return undefined
  if (Array.isArray(root) && !/^\d/.test(path)) return undefined
  if (Object.hasOwn(root, path)) return root[path as keyof typeof root]
  const dot = path.indexOf('.')
  const key = path.slice(0, Math.max(0, dot))
  if (dot < 0 || !Object.hasOwn(root, key)) return undefined
  return valueAt(root[key as keyof typeof root], path.slice(dot + 1))
}
