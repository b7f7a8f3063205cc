/** Contacts and conditions for the tests of segments. */
import type { Condition } from '../../../../src/features/ground/conditions/condition.ts'
import type { Filter } from '../../../../src/features/ground/conditions/filter.ts'
import { asc, eq, sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { type Segment, segmentMembers, segments } from '../../../../src/store/schema/segments.ts'
import type { TestCore } from '../../../core.ts'
import type { NewContact } from '../contacts/add-contacts.ts'

/** `person0@people.test` and so on, all of one plan. */
export function makeContacts(count: number, plan = 'pro'): NewContact[] {
  return Array.from({ length: count }, (_, index) => ({
    email: `person${index}@people.test`,
    data: { plan },
  }))
}

export function where(...filters: Filter[]): Condition {
  return { logic: 'AND', groups: [{ filters }] }
}

export function planIs(value: string): Condition {
  return where({ field: 'data.plan', operator: 'equals', value })
}

export function inSegment(id: string): Condition {
  return where({ field: `segment.${id}`, operator: 'memberOfSegment' })
}

export async function setPlan(
  { store }: Pick<TestCore, 'store'>,
  id: string,
  plan: string,
): Promise<void> {
  await store.write((tx) => tx.update(contacts).set({ data: { plan } }).where(eq(contacts.id, id)))
}

/** Returns the membership events in order: `pro entry 3` for index 3 of `ids`. */
export async function segmentEvents(
  { store }: Pick<TestCore, 'store'>,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await store.read
    .select()
    .from(events)
    .where(sql`${events.name} like 'segment.%'`)
    .orderBy(asc(events.seq))
  return rows.map(({ name, contactId }) => {
    const [, slug, change] = name.split('.')
    return `${slug} ${change} ${ids.indexOf(contactId ?? '')}`
  })
}

/** Returns the indexes in `ids` of the contacts with current member rows. */
export async function membersOf(
  { store }: Pick<TestCore, 'store'>,
  segmentId: string,
  ids: readonly string[],
): Promise<number[]> {
  const rows = await store.read
    .select()
    .from(segmentMembers)
    .where(eq(segmentMembers.segmentId, segmentId))
  const current = rows.filter(({ exitedAt }) => exitedAt === null)
  return current.map(({ contactId }) => ids.indexOf(contactId)).sort((a, b) => a - b)
}

export async function loadSegmentRecord(
  { store }: Pick<TestCore, 'store'>,
  id: string,
): Promise<Segment> {
  const row = await store.read.select().from(segments).where(eq(segments.id, id)).get()
  if (row === undefined) throw new TypeError(`no segment ${id}`)
  return row
}
