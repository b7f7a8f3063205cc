/** Finds the contacts and suppressions of some addresses in one query of the transaction that writes. */
import { listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Contact, ContactData } from '../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export type KnownAddresses = {
  /** Existing contacts by address. */
  contacts: ReadonlyMap<string, Contact>
  /** The suppressed addresses. */
  suppressed: ReadonlySet<string>
}

/** A contact; a suppression has null in all columns but the address. */
type AddressRow = {
  address: string
  id: string | null
  subscribed: number | null
  data: string | null
  createdAt: number | null
  updatedAt: number | null
}

const selectKnown = (addresses: SQL) =>
  statement<AddressRow>(
    () => sql`select email as address, id, subscribed, data,
        created_at as createdAt, updated_at as updatedAt
      from contacts where project_id = ${parameter('projectId')} and email ${addresses}
      union all select email, null, null, null, null, null
      from suppressions where project_id = ${parameter('projectId')} and email ${addresses}`,
  )

/** For one address, as almost every request has, a query without a list takes half the time. */
const findOne = selectKnown(sql`= ${parameter('address')}`)
const findMany = selectKnown(sql`in ${listOf(parameter('addresses'))}`)

export async function findKnownAddresses(
  tx: Tx,
  projectId: string,
  addresses: readonly string[],
): Promise<KnownAddresses> {
  const [address] = addresses
  const rows =
    addresses.length === 1
      ? await tx.list(findOne, { projectId, address })
      : await tx.list(findMany, { projectId, addresses: JSON.stringify(addresses) })
  const contacts = new Map<string, Contact>()
  const suppressed = new Set<string>()
  for (const row of rows) {
    if (row.id === null) suppressed.add(row.address)
    else contacts.set(row.address, toContact(projectId, { ...row, id: row.id }))
  }
  return { contacts, suppressed }
}

function toContact(projectId: string, row: AddressRow & { id: string }): Contact {
  return {
    id: row.id,
    projectId,
    address: row.address,
    subscribed: row.subscribed === 1,
    data: row.data === null ? null : (JSON.parse(row.data) as ContactData),
    createdAt: row.createdAt ?? 0,
    updatedAt: row.updatedAt ?? 0,
  }
}
