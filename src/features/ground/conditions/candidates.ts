/**
 * Finds the candidates of a condition if one of its required filters matches few contacts: a rare
 * event, a small segment, or an address. The query then reads only these contacts instead of the
 * whole project. Candidates are selected by their numbers, which every index of contacts ends with.
 */

import { startOfSpan } from '../../../records/operators.ts'
import { indexedBy, listOf, orderedJoin } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { events } from '../../../store/schema/events.ts'
import { emails } from '../../../store/schema/messages.ts'
import { segmentMembers } from '../../../store/schema/segments.ts'
import type { Base } from '../base.ts'
import type { Condition } from './condition.ts'
import { normalizeAddress, normalizeAddresses } from './contact-filter.ts'
import { parseConditionField } from './field.ts'
import type { Filter } from './filter.ts'
import type { ReferencedSegments } from './referenced-segments.ts'

type Deps = Pick<Base, 'store'>
type CandidateContext = { projectId: string; now: number; segments: ReferencedSegments }

/** The rows of `table` for which `matches` is true; `contactId` is the contact of such a row. */
type CandidateSource = { table: SQL; contactId: SQL; matches: SQL }

/**
 * The most candidates of one filter. Each page of a list selects the candidates again, so more of
 * them would cost more than they save.
 */
const MAX_LISTED = 2000
const MAX_PROBES = 5

/**
 * Returns a select of the numbers of all contacts that may match; undefined when they are too many.
 */
export async function findCandidates(
  deps: Deps,
  condition: Condition,
  context: CandidateContext,
): Promise<SQL | undefined> {
  const required = [...listRequired(condition, context.segments)]
  const byAddress = required.find(
    ({ field, operator }) => field === 'email' && (operator === 'equals' || operator === 'in'),
  )
  if (byAddress !== undefined) return selectAddresses(context.projectId, byAddress)
  const sources = required.flatMap((filter) => findSource(filter, context) ?? [])
  let best: { source: CandidateSource; size: number } | undefined
  for (const source of sources.slice(0, MAX_PROBES)) {
    const size = await countRows(deps, source)
    if (size < (best?.size ?? MAX_LISTED + 1)) best = { source, size }
  }
  return best && selectNumbers(best.source)
}

/**
 * Lists the filters that every matching contact satisfies, including the filters of segments'
 * conditions.
 */
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

/**
 * Returns the condition of the segment that the filter requires, if the segment has no member rows.
 */
function conditionOf(filter: Filter, segments: ReferencedSegments): Condition | undefined {
  const parsedField = parseConditionField(filter)
  if (parsedField?.kind !== 'segment' || filter.operator !== 'memberOfSegment') return undefined
  const segment = segments.get(parsedField.id)
  return segment?.hasMembers ? undefined : segment?.condition
}

function findSource(filter: Filter, context: CandidateContext): CandidateSource | undefined {
  const parsedField = parseConditionField(filter)
  if (parsedField?.kind === 'event') return findEvents(filter, { ...context, ...parsedField })
  if (parsedField?.kind !== 'segment' || filter.operator !== 'memberOfSegment') return undefined
  if (!context.segments.get(parsedField.id)?.hasMembers) return undefined
  return {
    // The primary key also contains former members, which may be many more.
    table: sql`${segmentMembers} ${indexedBy('segment_members_newest')}`,
    contactId: sql`${segmentMembers.contactId}`,
    matches: sql`${segmentMembers.segmentId} = ${parsedField.id} and ${segmentMembers.exitedAt} is null`,
  }
}

function findEvents(
  filter: Filter,
  { projectId, now, name, campaignId }: CandidateContext & { name: string; campaignId?: string },
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
  if (campaignId !== undefined) return toRecipients(campaignId)
  return {
    table: sql`${events}`,
    contactId: sql`${events.contactId}`,
    matches: sql`${events.projectId} = ${projectId} and ${events.name} = ${name}${time}`,
  }
}

/** The contacts that got an email of the campaign. */
function toRecipients(campaignId: string): CandidateSource {
  return {
    table: sql`${emails} ${indexedBy('emails_campaign')}`,
    contactId: sql`${emails.contactId}`,
    matches: sql`${emails.campaignId} = ${campaignId}`,
  }
}

async function countRows({ store }: Deps, { table, matches }: CandidateSource): Promise<number> {
  const some = sql`select 1 from ${table} where ${matches} limit ${MAX_LISTED + 1}`
  const [[count] = []] = await store.read.values<[number]>(sql`select count(*) from (${some})`)
  return count ?? 0
}

function selectNumbers({ table, contactId, matches }: CandidateSource): SQL {
  return sql`select listed.number from ${table}
    ${orderedJoin()} ${contacts} as listed on listed.id = ${contactId} where ${matches}`
}

function selectAddresses(projectId: string, { operator, value }: Filter): SQL {
  const wanted = operator === 'in' ? normalizeAddresses(value) : [normalizeAddress(String(value))]
  return sql`select listed.number from ${contacts} as listed
    where listed.project_id = ${projectId} and listed.email in ${listOf(wanted)}`
}
