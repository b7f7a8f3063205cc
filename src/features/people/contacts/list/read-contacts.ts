/**
 * Reads whole contacts by their heads, which a list has found before: one slice of the list at a
 * time.
 */
import type { ContactRecord } from '../../../../records/contact.ts'
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { Base } from '../../../ground/base.ts'
import { toContactRecord } from '../read/find-contact.ts'
import { type ContactHead, type ContactRow, contactColumns, toNumberedContact } from './row.ts'

/**
 * Returns the contacts in the order of their heads; undefined for a contact that was deleted
 * meanwhile.
 */
export async function readContacts(
  { store }: Pick<Base, 'store'>,
  heads: readonly ContactHead[],
): Promise<(ContactRecord | undefined)[]> {
  const numbers = heads.map(([number]) => number)
  const rows = await store.scan.values<ContactRow>(
    sql`select ${contactColumns} from contacts where contacts.number in ${listOf(numbers)}`,
  )
  const byNumber = new Map(rows.map((row) => [row[0], row]))
  return numbers.map((number) => {
    const row = byNumber.get(number)
    return row && toContactRecord(toNumberedContact(row))
  })
}

export function dataBytesOf([, , , , , dataBytes]: ContactHead): number {
  return dataBytes
}
