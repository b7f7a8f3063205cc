/**
 * Writes the rows of `segment_members`. The transaction compares each row first, so a change that
 * was already made is not counted again. A contact that leaves keeps its row, which is reused when
 * the contact enters again.
 */
import { eachOf, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

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

/** Returns the ids of contacts that were not members; deleted contacts are omitted. */
export async function startMemberships(tx: Tx, change: MembershipChange): Promise<string[]> {
  return idsOf(await tx.list(insertMembers, valuesOf(change)))
}

/** Returns the ids of contacts that were members. */
export async function endMemberships(tx: Tx, change: MembershipChange): Promise<string[]> {
  return idsOf(await tx.list(updateEndedMembers, valuesOf(change)))
}

function valuesOf({ contactIds, ...rest }: MembershipChange) {
  return { ...rest, contactIds: JSON.stringify(contactIds) }
}

function idsOf(rows: { id: string }[]): string[] {
  return rows.map(({ id }) => id)
}
