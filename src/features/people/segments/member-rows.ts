/**
 * The rows of `segment_members`: the difference between them and the contacts that match the
 * condition of the segment now, and the writes. Scan threads compare one range of contact numbers
 * at a time and return only the differences. The transaction compares each row first, so a change
 * that was already made is not counted again. A contact that leaves keeps its row, which is reused
 * when the contact enters again.
 */
import { eachOf, indexedBy, listOf } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import {
  type NumberRange,
  walkNumberRanges,
  withinNumbers,
} from '../contacts/list/number-ranges.ts'

type MembershipChange = { segmentId: string; contactIds: readonly string[]; at: number }

const insertMembers = statement<{ id: string }>(
  () => sql`insert into segment_members
      (segment_id, contact_id, entered_at, exited_at, created_at, updated_at)
    select ${parameter('segmentId')}, contacts.id, ${parameter('at')}, null,
      ${parameter('at')}, ${parameter('at')}
    from ${eachOf(parameter('contactIds'))} as entry
    join contacts on contacts.id = entry.value
    where true
    on conflict (segment_id, contact_id) do update
      set entered_at = excluded.entered_at, exited_at = null, updated_at = excluded.updated_at
      where segment_members.exited_at is not null
    returning contact_id as id`,
)

const updateEndedMembers = statement<{ id: string }>(
  () => sql`update segment_members
    set exited_at = ${parameter('at')}, updated_at = ${parameter('at')}
    where segment_id = ${parameter('segmentId')}
      and contact_id in ${listOf(parameter('contactIds'))}
      and exited_at is null
    returning contact_id as id`,
)

/** `isSilent`: new rules of filters made the change, so that no event is appended. */
export type MembershipDifference = { contactId: string; isEntry: boolean; isSilent: boolean }

type ComparedSegment = {
  projectId: string
  segmentId: string
  condition: SQL
  /** SQL that is true for contacts whose change is silent; undefined if no change is. */
  isSilent: SQL | undefined
}

type Deps = Pick<Base, 'store'>

/**
 * The maximum number of contacts in a range. All of them may have changed, so this also limits the
 * changes in memory.
 */
const MAX_NUMBERS = 10_000

/**
 * Makes contacts members. Returns the ids of those that were not members before; deleted contacts
 * are omitted.
 */
export async function startMemberships(tx: Tx, change: MembershipChange): Promise<string[]> {
  return idsOf(await tx.list(insertMembers, valuesOf(change)))
}

/** Ends memberships. Returns the ids of the contacts that were members. */
export async function endMemberships(tx: Tx, change: MembershipChange): Promise<string[]> {
  return idsOf(await tx.list(updateEndedMembers, valuesOf(change)))
}

/**
 * Yields the changes range by range; a range may have none. A contact that is created or changed
 * meanwhile may be missed.
 */
export function findChanges(
  deps: Deps,
  segment: ComparedSegment,
): AsyncGenerator<MembershipDifference[]> {
  const compareRange = (numberRange: NumberRange) => findDifferences(deps, segment, numberRange)
  return walkNumberRanges(deps, { scope: segment, range: { maxSize: MAX_NUMBERS } }, compareRange)
}

function valuesOf({ contactIds, ...rest }: MembershipChange) {
  return { ...rest, contactIds: JSON.stringify(contactIds) }
}

function idsOf(rows: { id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

async function findDifferences(
  { store }: Deps,
  { projectId, segmentId, condition, isSilent = sql`0` }: ComparedSegment,
  numberRange: NumberRange,
): Promise<MembershipDifference[]> {
  const rows = await store.scan.values<[string, number, number | null]>(
    sql`select contacts.id, member.contact_id is null, ${isSilent}
      from contacts ${indexedBy('contacts_order')}
      left join segment_members as member on member.segment_id = ${segmentId}
        and member.contact_id = contacts.id and member.exited_at is null
      where contacts.project_id = ${projectId} and contacts.subscribed in (0, 1)
${withinNumbers(numberRange)}
        and (${condition}) is true <> (member.contact_id is not null)`,
  )
  return rows.map(([contactId, isEntry, silent]) => ({
    contactId,
    isEntry: isEntry === 1,
    isSilent: silent === 1,
  }))
}
