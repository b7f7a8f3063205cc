/**
 * The suppression list of a project: lists, finds, adds and deletes its addresses. An address that is already on the
 * list keeps its first reason. The subscription of a contact ends with the suppression of the address, and does not
 * come back when the suppression is deleted.
 */
import { formatInstant } from '../../../base/clock.ts'
import { type AppError, notFound, unknownCursor } from '../../../base/errors.ts'
import type { ParsedAddress } from '../../../formats/address/address.ts'
import type { ListedSuppression, SuppressionRecord } from '../../../records/suppression.ts'
import { containsText } from '../../../store/dialect.ts'
import { and, eq, type SQL, sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { type Suppression, suppressions } from '../../../store/schema/suppressions.ts'
import type { SuppressionReason } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { CountedEnd } from '../../ground/list-totals.ts'
import type { Listing } from '../../ground/listing.ts'
import { listNewest, type Place } from '../../ground/newest-first.ts'
import { REASON_OF_SUPPRESSION } from '../../people/contacts/write/set-subscribed.ts'
import { unsubscribeAddresses } from '../../people/contacts/write/unsubscribe-addresses.ts'
import { deleteStrikesOf } from '../messages/outcome/strikes.ts'
import { suppress } from '../messages/outcome/suppression.ts'

export type { SuppressionReason } from '../../../store/schema/words.ts'

type SuppressionQuery = {
  /** If absent, the suppressions of all projects, for operators. */
  projectId?: string | undefined
  limit: number
  /** The cursor of an earlier page, or the id of its last item. */
  cursor?: string | undefined
  /** Part of the address, in any letter case. */
  search?: string | undefined
  reason?: SuppressionReason | undefined
}

/** The list, newest first. */
export const NEWEST_SUPPRESSIONS = { list: 'suppressions', table: suppressions, key: 'id' } as const

export type SuppressedAddress = Pick<Suppression, 'projectId' | 'reason' | 'source' | 'createdAt'>

/** Searches each project's part of the index on project and address. */
export const listByAddress = statement((db) =>
  db
    .select({
      projectId: suppressions.projectId,
      reason: suppressions.reason,
      source: suppressions.source,
      createdAt: suppressions.createdAt,
    })
    .from(suppressions)
    .where(
      sql`${suppressions.projectId} in (select id from projects where deleted_at is null)
        and ${suppressions.address} = ${parameter('address')}`,
    ),
)

type AddedSuppressions = {
  added: number
  /**
   * The number of addresses that were on the list before. An address that is given twice counts
   * once.
   */
  existing: number
}

type NewSuppressions = {
  projectId: string
  addresses: readonly ParsedAddress[]
  reason: SuppressionReason
  /** The origin of the addresses, as a text for people; `API` if absent. */
  source?: string
}

type SuppressedAddresses = {
  projectId: string
  /** The addresses in the form of `ParsedAddress.address`, each once. */
  addresses: readonly string[]
  reason: SuppressionReason
  /** The cause, as text for people. */
  source: string
  at: number
}

type Deps = Pick<Base, 'store'>

const deleteById = statement((db) =>
  db
    .delete(suppressions)
    .where(
      and(eq(suppressions.id, parameter('id')), eq(suppressions.projectId, parameter('projectId'))),
    )
    .returning({ address: suppressions.address }),
)

const deleteByAddress = statement((db) =>
  db
    .delete(suppressions)
    .where(
      and(
        eq(suppressions.projectId, parameter('projectId')),
        eq(suppressions.address, parameter('address')),
      ),
    ),
)

export function toSuppressionRecord(row: Suppression): SuppressionRecord {
  const { id, address, reason, source, emailId, createdAt } = row
  return { id, email: address, reason, source, emailId, createdAt: formatInstant(createdAt) }
}

/**
 * Lists a project's suppressions, newest first, by cursor. @throws AppError VALIDATION_ERROR for an invalid cursor
 */
export async function listSuppressions(
  deps: Pick<Base, 'store' | 'keyring' | 'listTotals'>,
  query: SuppressionQuery,
): Promise<Listing<ListedSuppression, CountedEnd>> {
  const { cursor, limit, ...filters } = query
  return listNewest(deps, NEWEST_SUPPRESSIONS, {
    where: suppressionsOf(query),
    filters,
    limit,
    cursor,
    findPlace: (given) => findPlace(deps, query, given),
    toItem: (row) => toListed(query, row),
  })
}

/**
 * Finds the projects that suppress an address. `address`: in the form of `ParsedAddress.address`.
 */
export function findSuppressed(
  { store }: Pick<Base, 'store'>,
  address: string,
): Promise<SuppressedAddress[]> {
  return store.scan.list(listByAddress, { address })
}

/**
 * Adds addresses to a project's suppression list, as the project asks, and unsubscribes their contacts. Adds all
 * addresses, or none when that fails.
 */
export async function addSuppressions(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { projectId, addresses, reason, source = 'API' }: NewSuppressions,
): Promise<AddedSuppressions> {
  const unique = [...new Set(addresses.map(({ address }) => address))]
  const suppression = { projectId, addresses: unique, reason, source, at: now() }
  const added = await store.write((tx) => suppressAddresses(tx, suppression))
  return { added, existing: unique.length - added }
}

/** Like `addSuppressions`, in the caller's transaction. Returns how many were not on the list. */
export async function suppressAddresses(
  tx: Tx,
  { addresses, ...suppression }: SuppressedAddresses,
): Promise<number> {
  const { projectId, at } = suppression
  let added = 0
  for (const address of addresses) {
    if (await suppress(tx, { ...suppression, address, emailId: null })) added += 1
  }
  const reason = REASON_OF_SUPPRESSION[suppression.reason]
  const unled = new Map(addresses.map((address) => [address, null]))
  await unsubscribeAddresses(tx, { projectId, addresses: unled, reason, at })
  return added
}

/**
 * Deletes a suppression and the strikes of its address: mail may be sent to the address again. @throws AppError
 * RESOURCE_NOT_FOUND, also for an entry of another project
 */
export async function deleteSuppression(
  { store }: Deps,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  await store.write(async (tx) => {
    const removed = await tx.find(deleteById, { projectId, id })
    if (removed === undefined) throw suppressionNotFound(id)
    await deleteStrikesOf(tx, { projectId, address: removed.address })
  })
}

/**
 * Deletes addresses from the list, with their strikes. Returns how many were removed; addresses that are not on the
 * list are ignored.
 */
export async function deleteAddresses(
  { store }: Deps,
  { projectId, addresses }: { projectId: string; addresses: readonly ParsedAddress[] },
): Promise<number> {
  return store.write(async (tx) => {
    let removed = 0
    for (const { address } of addresses) {
      if ((await tx.execute(deleteByAddress, { projectId, address })) === 0) continue
      await deleteStrikesOf(tx, { projectId, address })
      removed += 1
    }
    return removed
  })
}

function toListed(query: SuppressionQuery, row: Suppression): ListedSuppression {
  const view = toSuppressionRecord(row)
  return query.projectId === undefined ? { ...view, projectId: row.projectId } : view
}

export function suppressionsOf({
  projectId,
  search = '',
  reason,
}: Pick<SuppressionQuery, 'projectId' | 'search' | 'reason'>): SQL | undefined {
  const part = search.trim().toLowerCase()
  return and(
    projectId === undefined ? undefined : eq(suppressions.projectId, projectId),
    reason === undefined ? undefined : eq(suppressions.reason, reason),
    part === '' ? undefined : containsText(suppressions.address, part),
  )
}

/**
 * Finds the place in the list of a cursor that an older version made, `<createdAt>_<id>`, or of the
 * id of a suppression.
 */
async function findPlace(
  { store }: Pick<Base, 'store'>,
  { projectId }: SuppressionQuery,
  cursor: string,
): Promise<Place | undefined> {
  const [, olderAt, olderId] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  if (olderAt !== undefined && olderId !== undefined) return { at: Number(olderAt), key: olderId }
  if (!isUuid(cursor)) return undefined
  const own = and(suppressionsOf({ projectId }), eq(suppressions.id, cursor))
  const row = await store.read.select().from(suppressions).where(own).get()
  if (row === undefined) throw unknownCursor()
  return { at: row.createdAt, key: row.id }
}

function suppressionNotFound(id: string): AppError {
  return notFound('suppression', id, 'The suppression list has no entry with that id.')
}
