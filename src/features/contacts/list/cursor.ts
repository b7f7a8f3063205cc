/**
 * Where a page of contacts ended, sealed: its number is nobody's business, and an address has none
 * in the URLs that proxies and logs keep. The id of a contact stands for its own place.
 */
import { invalidField } from '../../../errors.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'
import type { NumberedContact } from './row.ts'
import type { ContactSort, SortKey } from './scope.ts'

type Deps = Pick<Base, 'store' | 'keyring'>

const selectPlace = statement((db) =>
  db
    .select({ number: contacts.number, address: contacts.address })
    .from(contacts)
    .where(and(eq(contacts.id, parameter('id')), eq(contacts.projectId, parameter('projectId')))),
)

export function formatCursor(
  { keyring }: Pick<Base, 'keyring'>,
  sort: ContactSort,
  last: Pick<NumberedContact, 'number' | 'address'>,
): string {
  const text = JSON.stringify(['contacts', sort, placeOf(sort, last)])
  return Buffer.from(keyring.seal(text), 'base64').toString('base64url')
}

/** @throws AppError VALIDATION_ERROR for what is neither, or of another order or project */
export async function parseCursor(
  deps: Deps,
  { projectId, sort, cursor }: { projectId: string; sort: ContactSort; cursor: string },
): Promise<SortKey> {
  if (!isUuid(cursor)) return unsealPlace(deps, sort, cursor)
  const contact = await deps.store.read.find(selectPlace, { projectId, id: cursor })
  if (contact === undefined) throw noCursor()
  return placeOf(sort, contact)
}

function placeOf(sort: ContactSort, { number, address }: { number: number; address: string }) {
  return sort === 'email' ? address : number
}

function unsealPlace({ keyring }: Pick<Base, 'keyring'>, sort: ContactSort, cursor: string) {
  const [kind, sortedBy, place] = openSeal(keyring, cursor)
  if (kind !== 'contacts' || sortedBy !== sort) throw noCursor()
  return place as SortKey
}

function openSeal(keyring: Base['keyring'], cursor: string): unknown[] {
  try {
    return JSON.parse(keyring.unseal(cursor)) as unknown[]
  } catch {
    throw noCursor()
  }
}

function noCursor() {
  return invalidField('cursor', 'custom', 'The cursor is not one that this list gave out')
}
