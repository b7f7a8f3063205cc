/**
 * Some filters let only few contacts through: an event that hardly anybody had, a small segment, an
 * address. Where one of them must hold, the contacts that it names are all that is looked at, and
 * not the whole project. The rows are named by their numbers, which every index ends with.
 */
import { indexedBy } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import { events } from '../../store/schema/events.ts'
import { segmentMembers } from '../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import type { Condition } from './condition.ts'
import { normalizeAddress } from './contact-filter.ts'
import { parseField } from './field.ts'
import type { Filter } from './filter.ts'
import { startOfSpan } from './operators.ts'
import type { ReferencedSegments } from './referenced-segments.ts'

type Deps = Pick<Base, 'store'>
type Context = { projectId: string; now: number; segments: ReferencedSegments }

/** The rows that name contacts. */
type CandidateSource = { table: SQL; contactId: SQL; isMeant: SQL }

/** Finding them again and again, page by page, must cost less than it saves. */
const MAX_LISTED = 2000
const MAX_PROBES = 5

/** Selects numbers among which are all contacts that match; undefined when these are too many. */
export async function findCandidates(
  deps: Deps,
  condition: Condition,
  context: Context,
): Promise<SQL | undefined> {
  const required = [...listRequired(condition, context.segments)]
  const address = required.find(({ field, operator }) => field === 'email' && operator === 'equals')
  if (address !== undefined) return selectAddress(context.projectId, String(address.value))
  const sources = required.flatMap((filter) => findSource(filter, context) ?? [])
  let best: { source: CandidateSource; size: number } | undefined
  for (const source of sources.slice(0, MAX_PROBES)) {
    const size = await countRows(deps, source)
    if (size < (best?.size ?? MAX_LISTED + 1)) best = { source, size }
  }
  return best && selectNumbers(best.source)
}

/** The filters that hold for each contact that matches, those of segments' conditions among them. */
function* listRequired(condition: Condition, segments: ReferencedSegments): Generator<Filter> {
  const { logic, groups } = condition
  if (logic === 'OR' && groups.length > 1) return
  for (const { filters, conditions } of groups) {
    for (const filter of filters) {
      yield filter
      const inner = conditionOf(filter, segments)
      if (inner !== undefined) yield* listRequired(inner, segments)
    }
    if (conditions !== undefined) yield* listRequired(conditions, segments)
  }
}

/** Of the segment that a contact must be in, if that is all there is to it. */
function conditionOf(filter: Filter, segments: ReferencedSegments): Condition | undefined {
  const target = parseField(filter)
  if (target?.kind !== 'segment' || filter.operator !== 'memberOfSegment') return undefined
  const segment = segments.get(target.id)
  return segment?.hasMembers ? undefined : segment?.condition
}

function findSource(filter: Filter, context: Context): CandidateSource | undefined {
  const target = parseField(filter)
  if (target?.kind === 'event') return findEvents(filter, { ...context, name: target.name })
  if (target?.kind !== 'segment' || filter.operator !== 'memberOfSegment') return undefined
  if (!context.segments.get(target.id)?.hasMembers) return undefined
  return {
    // The primary key has those who left, too, who may be many more.
    table: sql`${segmentMembers} ${indexedBy('segment_members_newest')}`,
    contactId: sql`${segmentMembers.contactId}`,
    isMeant: sql`${segmentMembers.segmentId} = ${target.id} and ${segmentMembers.exitedAt} is null`,
  }
}

function findEvents(
  filter: Filter,
  { projectId, now, name }: Context & { name: string },
): CandidateSource | undefined {
  const since = startOfSpan(now, filter)
  const times = {
    triggered: sql``,
    triggeredWithin: sql` and ${events.createdAt} >= ${since}`,
    triggeredOlderThan: sql` and ${events.createdAt} < ${since}`,
  }
  const { operator } = filter
  if (!(operator in times)) return undefined
  const time = times[operator as keyof typeof times]
  return {
    table: sql`${events}`,
    contactId: sql`${events.contactId}`,
    isMeant: sql`${events.projectId} = ${projectId} and ${events.name} = ${name}${time}`,
  }
}

async function countRows({ store }: Deps, { table, isMeant }: CandidateSource): Promise<number> {
  const some = sql`select 1 from ${table} where ${isMeant} limit ${MAX_LISTED + 1}`
  const [[count] = []] = await store.read.values<[number]>(sql`select count(*) from (${some})`)
  return count ?? 0
}

/** A cross join is taken in this order. */
function selectNumbers({ table, contactId, isMeant }: CandidateSource): SQL {
  return sql`select listed.number from ${table}
    cross join ${contacts} as listed on listed.id = ${contactId} where ${isMeant}`
}

function selectAddress(projectId: string, address: string): SQL {
  const email = normalizeAddress(address)
  return sql`select listed.number from ${contacts} as listed
    where listed.project_id = ${projectId} and listed.email = ${email}`
}
