/**
 * Finds what is known of some addresses with one query, on a reader or in a transaction: their
 * contacts, their suppressions, the wishes of people who left, and whether links in older mail name
 * a deleted contact.
 */

import { parseJsonText } from '../../../../base/json-text.ts'
import { addressDigest, eachOf, listOf, octets, orderedJoin } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { type Contact, contacts } from '../../../../store/schema/contacts.ts'
import type { ContactData } from '../../../../store/schema/json-values.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { isOwnWish } from '../../wishes/wishes.ts'

export type KnownAddresses = {
  /** Existing contacts by address. */
  contacts: ReadonlyMap<string, Contact>
  /** The addresses of contacts that are not in `contacts`, because they have more data than was asked for. */
  large: ReadonlySet<string>
  /** The suppressed addresses. */
  suppressed: ReadonlySet<string>
  /** The addresses whose owners left. */
  left: ReadonlySet<string>
  /**
   * The addresses that a bounce had unsubscribed, and that the project then unsubscribed by its own
   * decision.
   */
  withdrawn: ReadonlySet<string>
  /**
   * The addresses of deleted contacts and emails, and former addresses of contacts: links in older
   * mail may still lead to these.
   */
  erased: ReadonlySet<string>
}

/** The row of a contact has all columns; the row of another fact has only `fact` and `address`. */
type AddressRow = {
  fact: 'contact' | 'large' | 'suppressed' | 'left' | 'withdrawn' | 'erased'
  address: string
  id: string | null
  subscribed: number | null
  data: string | null
  createdAt: number | null
  updatedAt: number | null
}

const PROJECT = parameter('projectId')
/** SQLite knows the size of a text without reading it. */
const isLarge = sql`${octets(contacts.data)} > ${parameter('maxDataBytes')}`

/**
 * `keyed`: a query of `address` and its `digest`. The query is materialized, so that SQLite
 * computes each digest once: a digest takes about 2 us.
 */
const selectKnown = (addresses: SQL, keyed: SQL) =>
  statement<AddressRow>(
    () => sql`with keyed as materialized (${keyed})
      select case when ${isLarge} then 'large' else 'contact' end as fact, email as address, id, subscribed,
        case when ${isLarge} then null else data end as data,
        created_at as createdAt, updated_at as updatedAt
      from contacts where project_id = ${PROJECT} and email ${addresses}
      union all select 'suppressed', email, null, null, null, null, null
      from suppressions where project_id = ${PROJECT} and email ${addresses}
      union all select case when ${isOwnWish} then 'left' else 'withdrawn' end, address,
        null, null, null, null, null
      from keyed ${orderedJoin()} wishes on wishes.digest = keyed.digest
      union all select 'erased', address, null, null, null, null, null
      from keyed where exists (select 1 from erased_recipients
        where erased_recipients.digest = keyed.digest)`,
  )

/** For one address, as almost every request has, a query without a list takes half the time. */
const findOne = selectKnown(
  sql`= ${parameter('address')}`,
  sql`select ${parameter('address')} as address,
    ${addressDigest(PROJECT, parameter('address'))} as digest`,
)
const findMany = selectKnown(
  sql`in ${listOf(parameter('addresses'))}`,
  sql`select value as address, ${addressDigest(PROJECT, sql`value`)} as digest
    from ${eachOf(parameter('addresses'))}`,
)

/** `maxDataBytes`: contacts with more data are in `large`; by default there are none. */
export async function findKnownAddresses(
  tx: Pick<Tx, 'list'>,
  projectId: string,
  addresses: readonly string[],
  maxDataBytes = Number.MAX_SAFE_INTEGER,
): Promise<KnownAddresses> {
  const [address] = addresses
  const rows =
    addresses.length === 1
      ? await tx.list(findOne, { projectId, maxDataBytes, address })
      : await tx.list(findMany, {
          ...{ projectId, maxDataBytes, addresses: JSON.stringify(addresses) },
        })
  const found = new Map<string, Contact>()
  const facts = {
    large: new Set<string>(),
    suppressed: new Set<string>(),
    left: new Set<string>(),
    withdrawn: new Set<string>(),
    erased: new Set<string>(),
  }
  for (const row of rows) {
    if (row.fact !== 'contact') facts[row.fact].add(row.address)
    else found.set(row.address, toContact(projectId, { ...row, id: row.id ?? '' }))
  }
  return { contacts: found, ...facts }
}

function toContact(projectId: string, row: AddressRow & { id: string }): Contact {
  return {
    id: row.id,
    projectId,
    address: row.address,
    subscribed: row.subscribed === 1,
    data: row.data === null ? null : (parseJsonText(row.data) as ContactData),
    createdAt: row.createdAt ?? 0,
    updatedAt: row.updatedAt ?? 0,
  }
}
