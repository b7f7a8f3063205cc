/**
 * Which events stand on a page, newest first (`createdAt`, then `seq`). Each scope has its way
 * through an index that ends with the page, however many events there are:
 *
 *   a project            events_newest, walked from the newest
 *   by some names        events_named, the newest of each name, and of these the newest
 *   of a contact         events_contact, whose entries alone are sorted: a contact has few
 */
import { eachOf, indexedBy, listOf } from '../../store/dialect.ts'
import { type SQL, sql } from '../../store/drizzle.ts'
import { UNLISTED_EVENTS } from './unlisted.ts'

/** Where a page ended. */
export type EventPosition = { at: number; seq: number }

export type EventScope = {
  projectId: string
  contactId?: string | undefined
  /** No others than these. */
  names?: readonly string[] | undefined
  /**
   * All but these; looked at one by one, so they should be few among the others. Without `names`
   * and `exceptNames`: all but the unlisted ones.
   */
  exceptNames?: readonly string[] | undefined
  /** Epoch ms, both included. */
  startAt?: number | undefined
  endAt?: number | undefined
  after?: EventPosition | undefined
}

/** A select of `seq` and `created_at`, in order; `limit` rows at most. */
export function pageOf(wanted: EventScope, limit: number): SQL {
  const scope = withoutUnlisted(wanted)
  const { projectId, contactId, exceptNames } = scope
  const given = scope.names?.filter((name) => !exceptNames?.includes(name))
  // A name that came twice would bring its events twice.
  const names = given === undefined ? undefined : [...new Set(given)]
  if (contactId !== undefined) return newest(scope, limit, ofContact(contactId, scope))
  if (names === undefined) return newest(scope, limit, ofProject(scope))
  const ofName = sql`${indexedBy('events_named')} where project_id = ${projectId}
    and name = wanted.value`
  return sql`select each.seq, each.created_at from ${eachOf(names)} as wanted
    cross join events as each on each.seq in
      (select seq from (${newest(scope, limit, ofName)}))
    order by each.created_at desc, each.seq desc limit ${limit}`
}

/** A scope that names no events, neither wanted nor unwanted ones, does not ask for unlisted ones. */
function withoutUnlisted(scope: EventScope): EventScope {
  if (scope.names !== undefined || scope.exceptNames !== undefined) return scope
  return { ...scope, exceptNames: UNLISTED_EVENTS }
}

function newest(scope: EventScope, limit: number, source: SQL): SQL {
  return sql`select seq, created_at from events ${source}${spanOf(scope)}
    order by created_at desc, seq desc limit ${limit}`
}

function ofProject({ projectId, exceptNames }: EventScope): SQL {
  return sql`${indexedBy('events_newest')} where project_id = ${projectId}${without(exceptNames)}`
}

/** The index has no project: whoever asks has seen that the contact is one of it. */
function ofContact(contactId: string, { names, exceptNames }: EventScope): SQL {
  const named = names === undefined ? sql`` : sql` and name in ${listOf(names)}`
  return sql`${indexedBy('events_contact')} where contact_id = ${contactId}${named}${without(exceptNames)}`
}

function without(names: readonly string[] | undefined): SQL {
  if (names === undefined) return sql``
  return sql` and name not in ${listOf(names)}`
}

/** The instant stands by itself too: SQLite begins an index with it, not with a pair. */
function spanOf({ startAt, endAt, after }: EventScope): SQL {
  const until = Math.min(endAt ?? Number.POSITIVE_INFINITY, after?.at ?? Number.POSITIVE_INFINITY)
  const parts = [
    startAt === undefined ? sql`` : sql` and created_at >= ${startAt}`,
    Number.isFinite(until) ? sql` and created_at <= ${until}` : sql``,
    after === undefined ? sql`` : sql` and (created_at, seq) < (${after.at}, ${after.seq})`,
  ]
  return sql.join(parts)
}
