/** A cursor is the sealed sort key of the last contact of a page. The id of a contact is one too. */
import { unknownCursor } from '../../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../../records/cursor.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { isUuid } from '../../../../store/ids.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import type { NumberedContact } from './row.ts'
import type { ContactSort, ContactSortKey } from './scope.ts'

type Deps = Pick<Base, 'store' | 'keyring'>

const selectSortKey = statement((db) =>
  db
    .select({ number: contacts.number, address: contacts.address })
    .from(contacts)
    .where(and(eq(contacts.id, parameter('id')), eq(contacts.projectId, parameter('projectId')))),
)

export function formatContactCursor(
  deps: Pick<Base, 'keyring'>,
  sort: ContactSort,
  last: Pick<NumberedContact, 'number' | 'address'>,
): string {
  return sealCursor(deps, 'contacts', [sort, sortKeyOf(sort, last)])
}

/** @throws AppError VALIDATION_ERROR for other texts, and for a cursor of another order or project */
export async function parseContactCursor(
  deps: Deps,
  { projectId, sort, cursor }: { projectId: string; sort: ContactSort; cursor: string },
): Promise<ContactSortKey> {
  if (!isUuid(cursor)) return unsealSortKey(deps, sort, cursor)
  const contact = await deps.store.read.find(selectSortKey, { projectId, id: cursor })
  if (contact === undefined) throw unknownCursor()
  return sortKeyOf(sort, contact)
}

function sortKeyOf(sort: ContactSort, { number, address }: { number: number; address: string }) {
  return sort === 'email' ? address : number
}

function unsealSortKey(deps: Deps, sort: ContactSort, cursor: string): ContactSortKey {
  const [sortedBy, place] = unsealCursor(deps, 'contacts', cursor) as [string, ContactSortKey]
  if (sortedBy !== sort) throw unknownCursor()
  return place
}
