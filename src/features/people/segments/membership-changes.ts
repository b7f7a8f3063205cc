/**
 * Finds the contacts that must enter or leave a segment: the difference between the contacts that
 * match its condition now and its member rows. Scan threads compare one range of contact numbers at
 * a time and return only the differences.
 */
import { indexedBy } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Base } from '../../ground/base.ts'
import { type NumberRange, walkNumberRanges, within } from '../contacts/list/number-ranges.ts'

/** `isSilent`: by new rules of filters, so that it is no event. */
export type Change = { contactId: string; isEntry: boolean; isSilent: boolean }

type ComparedSegment = {
  projectId: string
  segmentId: string
  condition: SQL
  /** Whether a change of the contact is silent; none is if absent. */
  isSilent: SQL | undefined
}
type Deps = Pick<Base, 'store'>

/** Contacts in a range. All of them may have changed, so this also limits the changes in memory. */
const MAX_NUMBERS = 10_000

/**
 * Yields the changes range by range; a range may have none. A contact that is created or changed
 * meanwhile may be missed.
 */
export function findChanges(deps: Deps, segment: ComparedSegment): AsyncGenerator<Change[]> {
  const compareRange = (numberRange: NumberRange) => findDifferences(deps, segment, numberRange)
  return walkNumberRanges(deps, { scope: segment, range: { maxSize: MAX_NUMBERS } }, compareRange)
}

async function findDifferences(
  { store }: Deps,
  { projectId, segmentId, condition, isSilent = sql`0` }: ComparedSegment,
  numberRange: NumberRange,
): Promise<Change[]> {
  const rows = await store.scan.values<[string, number, number | null]>(
    sql`select contacts.id, member.contact_id is null, ${isSilent}
      from contacts ${indexedBy('contacts_order')}
      left join segment_members as member on member.segment_id = ${segmentId}
        and member.contact_id = contacts.id and member.exited_at is null
      where contacts.project_id = ${projectId} and contacts.subscribed in (0, 1)
${within(numberRange)}
        and (${condition}) is true <> (member.contact_id is not null)`,
  )
  return rows.map(([contactId, isEntry, silent]) => ({
    contactId,
    isEntry: isEntry === 1,
    isSilent: silent === 1,
  }))
}
