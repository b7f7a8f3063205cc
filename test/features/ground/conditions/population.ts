/** Contacts, events and segments in a database, for conditions to select from. */
import { compileCondition } from '../../../../src/features/ground/conditions/compile.ts'
import type { Condition } from '../../../../src/features/ground/conditions/condition.ts'
import { and, eq, type SQL, sql } from '../../../../src/store/drizzle.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { segmentMembers, segments } from '../../../../src/store/schema/segments.ts'
import type { TestCore } from '../../../core.ts'
import type { Population, TestContact, TestEvent, TestSegment } from './evaluator.ts'

export async function populate(
  { store, now }: Pick<TestCore, 'store' | 'now'>,
  projectId: string,
  population: Omit<Population, 'now'>,
): Promise<void> {
  const at = now()
  await store.write(async (tx) => {
    for (const { email: address, ...person } of population.contacts) {
      await tx.insert(contacts).values({ projectId, address, ...person })
    }
    for (const row of population.events.map((one) => toEvent(projectId, one))) {
      await tx.insert(events).values(row)
    }
    for (const segment of population.segments) {
      const { id, type, hasMembershipEvents, condition } = segment
      const shared = {
        projectId,
        type,
        hasMembershipEvents,
        condition,
        createdAt: at,
        updatedAt: at,
      }
      await tx.insert(segments).values({ id, name: `Segment ${id}`, ...shared })
      const rows = toMembers(segment, { contacts: population.contacts, at })
      if (rows.length > 0) await tx.insert(segmentMembers).values(rows)
    }
  })
}

/** Adds so many events without a contact to each name that no event gives candidates. */
export async function addManyEvents(
  { store, now }: Pick<TestCore, 'store' | 'now'>,
  { projectId, names, count }: { projectId: string; names: string[]; count: number },
): Promise<void> {
  const numbers = sql`with recursive numbers (n) as (select 1 union all
    select n + 1 from numbers where n < ${count})`
  await store.write(async (tx) => {
    for (const name of names) {
      await tx.run(sql`insert into events (id, project_id, name, created_at)
        ${numbers} select ${name} || n, ${projectId}, ${name}, ${now()} from numbers`)
    }
  })
}

/** Returns the selected ids in the order of a list, and the expression's value for each contact. */
export async function choose(
  deps: Pick<TestCore, 'store' | 'now'>,
  input: { projectId: string; condition: Condition },
): Promise<{ ids: string[]; values: Map<string, unknown> }> {
  const expression = await compileCondition(deps, input)
  const isOfProject = eq(contacts.projectId, input.projectId)
  const chosen = await deps.store.scan
    .select({ id: contacts.id })
    .from(contacts)
    .where(and(isOfProject, expression))
  const all = await deps.store.scan
    .select({ id: contacts.id, value: sql`${expression}` as SQL<unknown> })
    .from(contacts)
    .where(isOfProject)
  return { ids: chosen.map(({ id }) => id).sort(), values: new Map(all.map(toEntry)) }
}

function toEntry({ id, value }: { id: string; value: unknown }): [string, unknown] {
  return [id, value]
}

function toEvent(projectId: string, { contactId, name, at, isLeftOut }: TestEvent) {
  const data = isLeftOut ? { transientBounce: true, automatic: true } : null
  return { id: crypto.randomUUID(), projectId, name, contactId, data, createdAt: at }
}

/** Inserts the members, and a former member for each contact whose id ends in f. */
function toMembers(
  { id, members }: TestSegment,
  { contacts, at }: { contacts: TestContact[]; at: number },
) {
  const rows = contacts.flatMap((contact) => {
    const isIn = members.includes(contact.id)
    if (!isIn && !contact.id.endsWith('f')) return []
    return [{ segmentId: id, contactId: contact.id, exitedAt: isIn ? null : at }]
  })
  return rows.map((row) => ({ ...row, enteredAt: at, createdAt: at, updatedAt: at }))
}
