/**
 * Selects the events of a page, newest first (`createdAt`, then `seq`). Each scope uses an index
 * such that the cost depends on the page, not on the number of events:
 *
 *   a project        events_listed, from the newest; unlisted events are selected by their names
 *   some names       events_named: the newest events of each name, merged
 *   a contact        events_contact; only the entries of the contact are sorted, and these are few
 */
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { eachOf, indexedBy, listOf, orderedJoin } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { isListed } from './unlisted.ts'

/** The place of a page's last event: its time and `seq`. */
export type EventCursor = { at: number; seq: number }

export type EventScope = {
  projectId: string
  contactId?: string | undefined
  /** Only events of these names. */
  names?: readonly string[] | undefined
  /**
   * No events of these names. They are skipped one by one, so they should be rare. Without `names`
   * and `exceptNames`, unlisted events are excluded.
   */
  exceptNames?: readonly string[] | undefined
  /** Epoch ms, both included. */
  startAt?: number | undefined
  endAt?: number | undefined
  after?: EventCursor | undefined
}

/** Returns a select of `seq` and `created_at`, in order, with at most `limit` rows. */
export function selectPage(wanted: EventScope, limit: number): SQL {
  const scope = withoutUnlisted(wanted)
  const { projectId, contactId } = scope
  const names = namesOf(scope)
  if (contactId !== undefined) return selectNewest(scope, limit, ofContact(contactId, scope))
  if (names === undefined) return ofWholeProject(scope, limit)
  const ofName = sql`${indexedBy('events_named')} where project_id = ${projectId}
    and name = wanted.value`
  return sql`select each.seq, each.created_at from ${eachOf(names)} as wanted
    ${orderedJoin()} events as each on each.seq in
      (select seq from (${selectNewest(scope, limit, ofName)}))
    order by each.created_at desc, each.seq desc limit ${limit}`
}

/**
 * The parts of a scope that are counted one by one. `sources`: stretches of indexes, as SQL after
 * `from events`. `names`: names of events that the sources lack.
 */
type EventParts = { sources: readonly SQL[]; names: readonly string[] }

export function partsOf(wanted: EventScope): EventParts {
  const scope = withoutUnlisted(wanted)
  const { contactId, exceptNames = [] } = scope
  const names = namesOf(scope)
  if (contactId !== undefined) return { sources: [ofContact(contactId, scope)], names: [] }
  if (names !== undefined) return { sources: [], names }
  const unlisted = UNLISTED_EVENTS.filter((name) => !exceptNames.includes(name))
  return { sources: [listedOf(scope)], names: unlisted }
}

/** Returns each name once, because a repeated name would repeat its events. */
function namesOf({ names, exceptNames }: EventScope): string[] | undefined {
  const given = names?.filter((name) => !exceptNames?.includes(name))
  return given === undefined ? undefined : [...new Set(given)]
}

/** Excludes unlisted events from a scope without `names` and `exceptNames`. */
function withoutUnlisted(scope: EventScope): EventScope {
  if (scope.names !== undefined || scope.exceptNames !== undefined) return scope
  return { ...scope, exceptNames: UNLISTED_EVENTS }
}

function selectNewest(scope: EventScope, limit: number, source: SQL): SQL {
  return sql`select seq, created_at from events ${source}${spanOf(scope)}
    order by created_at desc, seq desc limit ${limit}`
}

/** Selects the listed events, and the unlisted events that the scope does not exclude. */
function ofWholeProject(scope: EventScope, limit: number): SQL {
  const { exceptNames = [] } = scope
  const listed = selectNewest(scope, limit, listedOf(scope))
  const names = UNLISTED_EVENTS.filter((name) => !exceptNames.includes(name))
  if (names.length === 0) return listed
  const unlisted = selectPage({ ...scope, names, exceptNames: undefined }, limit)
  return sql`select seq, created_at from
      (select * from (${listed}) union all select * from (${unlisted}))
    order by created_at desc, seq desc limit ${limit}`
}

function listedOf({ projectId, exceptNames = [] }: EventScope): SQL {
  const excluded = exceptNames.filter((name) => !UNLISTED_EVENTS.includes(name))
  return sql`${indexedBy('events_listed')} where project_id = ${projectId}
    and ${isListed}${without(excluded)}`
}

/**
 * The condition on the project is missing, because the index has no project. The caller has checked
 * that the project has the contact.
 */
function ofContact(contactId: string, { names, exceptNames }: EventScope): SQL {
  const named = names === undefined ? sql`` : sql` and name in ${listOf(names)}`
  return sql`${indexedBy('events_contact')} where contact_id = ${contactId}${named}${without(exceptNames)}`
}

function without(names: readonly string[] | undefined): SQL {
  if (names === undefined || names.length === 0) return sql``
  return sql` and name not in ${listOf(names)}`
}

/**
 * `created_at` is also compared by itself, because SQLite does not search the index by the pair.
 */
export function spanOf({ startAt, endAt, after }: EventScope): SQL {
  const until = Math.min(endAt ?? Number.POSITIVE_INFINITY, after?.at ?? Number.POSITIVE_INFINITY)
  const parts = [
    startAt === undefined ? sql`` : sql` and created_at >= ${startAt}`,
    Number.isFinite(until) ? sql` and created_at <= ${until}` : sql``,
    after === undefined ? sql`` : sql` and (created_at, seq) < (${after.at}, ${after.seq})`,
  ]
  return sql.join(parts)
}
