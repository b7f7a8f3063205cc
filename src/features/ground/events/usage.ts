/** Finds what uses the events of a name, how many there are, and whether they may be deleted. */
import type { EventUsage } from '../../../records/event.ts'
import { indexedBy } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'
import { storedEventName } from '../conditions/field.ts'
import type { References } from '../manifest/reference.ts'
import { findReferences, isUsed } from '../references/registry.ts'
import { isReservedEvent } from './reserved.ts'

export type EventKey = { projectId: string; name: string }

type Deps = Pick<Base, 'store' | 'duties'>

/**
 * A project with at most this many events of the name has all of them read in one query. With more
 * events, each contact is probed for one event.
 */
const MAX_EVENTS_READ = 250_000
/** The contacts of one query, which takes a tenth of a second. */
const CONTACTS_PER_QUERY = 50_000

export const countNamed = statement<{ count: number }>(
  () => sql`select count(*) as count from events ${indexedBy('events_named')}
    where project_id = ${parameter('projectId')} and name = ${parameter('name')}`,
)

export const countDistinctContacts = statement<{ count: number }>(
  () => sql`select count(distinct contact_id) as count from events ${indexedBy('events_named')}
    where project_id = ${parameter('projectId')} and name = ${parameter('name')}`,
)

export const countContactsByProbe = statement<{ count: number; last: number | null }>(
  () => sql`select max(number) as last, count(*) filter (where exists (
      select 1 from events ${indexedBy('events_contact')}
      where contact_id = asked.id and name = ${parameter('name')})) as count
    from (select number, id from contacts ${indexedBy('contacts_order')}
      where project_id = ${parameter('projectId')} and subscribed = ${parameter('subscribed')}
        and number > ${parameter('after')} order by number limit ${parameter('limit')}) as asked`,
)

/** `name`: the stored name, or an alias. */
export async function findEventUsage(
  deps: Deps,
  { projectId, name }: EventKey,
  { maxEventsRead = MAX_EVENTS_READ }: { maxEventsRead?: number } = {},
): Promise<EventUsage> {
  const key = { projectId, name: storedEventName(name) }
  const [references, totalCount] = await Promise.all([
    findEventReferences(deps, key),
    countEvents(deps, key),
  ])
  const isSmall = totalCount <= maxEventsRead
  return {
    usedInSegments: references.segments,
    usedInWorkflows: references.workflows,
    totalCount,
    uniqueContacts: isSmall ? await countContacts(deps, key) : await probeContacts(deps, key),
    canDelete: !isReservedEvent(key.name) && !isUsed(references),
  }
}

/** Finds the definitions that refer to the events of a name. */
export async function findEventReferences(
  deps: Deps,
  { projectId, name }: EventKey,
): Promise<References> {
  return findReferences(deps, deps.store.scan, { projectId, referent: { kind: 'event', name } })
}

export async function countEvents({ store }: Pick<Base, 'store'>, key: EventKey): Promise<number> {
  return (await store.scan.find(countNamed, key))?.count ?? 0
}

async function countContacts({ store }: Deps, key: EventKey): Promise<number> {
  return (await store.scan.find(countDistinctContacts, key))?.count ?? 0
}

/**
 * Counts the contacts that have the event: reads one index entry for each contact, not one for each
 * event.
 */
async function probeContacts(deps: Deps, key: EventKey): Promise<number> {
  const halves = await Promise.all([0, 1].map((subscribed) => probeHalf(deps, key, subscribed)))
  return halves.reduce((sum, count) => sum + count, 0)
}

async function probeHalf({ store }: Deps, key: EventKey, subscribed: number): Promise<number> {
  let total = 0
  for (let after = 0; ; ) {
    const values = { ...key, subscribed, after, limit: CONTACTS_PER_QUERY }
    const page = await store.scan.find(countContactsByProbe, values)
    if (page === undefined || page.last === null) return total
    total += page.count
    after = page.last
  }
}
