/**
 * Who must enter a tracked segment and who must leave it: whom its condition matches now, against its
 * rows. On the scan threads, one range of contact numbers at a time; only differences come back.
 */
import { indexedBy } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import type { Base } from '../base.ts'
import { type NumberRange, walkNumberRanges, within } from '../contacts/list/number-ranges.ts'

export type Change = { contactId: string; isEntry: boolean }

type TrackedSegment = { projectId: string; segmentId: string; condition: SQL }
type Deps = Pick<Base, 'store'>

/** All of them may have changed: as many are in memory at a time. */
const MAX_NUMBERS = 10_000

/** Range by range, some of them empty. Who comes or changes meanwhile may or may not be seen. */
export function findChanges(deps: Deps, tracked: TrackedSegment): AsyncGenerator<Change[]> {
  const look = (numberRange: NumberRange) => findDifferences(deps, tracked, numberRange)
  return walkNumberRanges(deps, { scope: tracked, range: { most: MAX_NUMBERS } }, look)
}

async function findDifferences(
  { store }: Deps,
  { projectId, segmentId, condition }: TrackedSegment,
  numberRange: NumberRange,
): Promise<Change[]> {
  const rows = await store.scan.values<[string, number]>(
    sql`select contacts.id, member.contact_id is null
      from contacts ${indexedBy('contacts_order')}
      left join segment_members as member on member.segment_id = ${segmentId}
        and member.contact_id = contacts.id and member.exited_at is null
      where contacts.project_id = ${projectId} and contacts.subscribed in (0, 1)
${within(numberRange)}
        and (${condition}) is true <> (member.contact_id is not null)`,
  )
  return rows.map(([contactId, isEntry]) => ({ contactId, isEntry: isEntry === 1 }))
}
