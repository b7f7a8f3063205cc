/**
 * The activity feed: the events of a project as people read them, newest first. The feed adds to
 * the stored events (`features/ground/events`): the event of an email comes with the message as its
 * recipient received it, rendered again from its snapshot, and with the basic fields of the email.
 *
 * The events of a page are found together with their sizes. They are then read slice by slice,
 * whenever the client has taken the slice before.
 */
import { DAY_MS } from '../../../base/clock.ts'
import type { ActivityRecord } from '../../../records/activity.ts'
import { UNLISTED_EVENTS } from '../../../records/words.ts'
import { listOf, octets, orderedJoin, unindexed } from '../../../store/dialect.ts'
import { eq, type SQL, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { events } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { countEventsOf } from '../../ground/events/count.ts'
import { findEventCursor, formatActivityCursor } from '../../ground/events/cursor.ts'
import { listNames } from '../../ground/events/names.ts'
import { type EventCursor, type EventScope, selectPage } from '../../ground/events/select-page.ts'
import { type CountedEnd, withTotal } from '../../ground/list-totals.ts'
import { type Listing, listingOf, pageListing, withEnd } from '../../ground/listing.ts'
import { eventNamesOf, type FeedEvent, serviceEventNames, toActivity } from './activity-entry.ts'
import { findEmailBytes } from './email-bytes.ts'
import { type FeedDeps, loadShownEmails } from './show-emails.ts'

type ActivityQuery = {
  /** The maximum number of entries on the page. */
  limit: number
  /** The cursor of the previous page, or the id of an event. */
  cursor?: string | undefined
  /** Activity types to include; unknown types are ignored. */
  types?: readonly string[] | undefined
  contactId?: string | undefined
  /** Whether entries come without bodies. */
  isSummary?: boolean
  startAt?: number | undefined
  endAt?: number | undefined
}

/** The length of the range of a feed, or of figures, for which no start is given. */
export const DEFAULT_SPAN_MS = 30 * DAY_MS

/**
 * If a project has more event names than this, the newest events are read one by one instead of by
 * name.
 */
const MAX_NAMES = 1_000

/** `bytes`: the size of the event's data. */
type FeedLine = EventCursor & { emailId: string | null; bytes: number }

const NOTHING: CountedEnd = { cursor: null, hasMore: false, total: 0 }

/**
 * Lists a page of the feed.
 * @throws AppError VALIDATION_ERROR for an unknown cursor
 */
export async function listActivity(
  deps: FeedDeps & Pick<Base, 'now' | 'listTotals'>,
  projectId: string,
  query: ActivityQuery,
): Promise<Listing<ActivityRecord, CountedEnd>> {
  const names = query.types === undefined ? undefined : eventNamesOf(query.types)
  if (names !== undefined && names.length === 0) return withEnd(listingOf([]), () => NOTHING)
  const { limit, cursor, contactId, startAt, endAt, isSummary = false } = query
  const scope: EventScope = {
    projectId,
    contactId,
    ...(await findNames(deps, { projectId, contactId, names })),
    startAt: startAt ?? defaultStart(query, deps.now()),
    endAt,
    after: await findEventCursor(deps, projectId, query.cursor),
  }
  const found = await deps.store.scan.all<FeedLine>(selectLines(scope, limit + 1))
  const lines = found.slice(0, limit)
  const last = found.length > limit ? lines.at(-1) : undefined
  const emailIds = isSummary ? [] : lines.flatMap(({ emailId }) => emailId ?? [])
  const emailBytes = await findEmailBytes(deps, emailIds)
  const page = pageListing({
    lines,
    bytesOf: ({ bytes, emailId }) => bytes + (emailBytes.get(emailId ?? '') ?? 0),
    read: (slice) => readEntries(deps, slice, isSummary),
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  return withTotal(deps, {
    page,
    cursor,
    whole: last === undefined ? lines.length : undefined,
    query: { list: 'activity', projectId, names, contactId, startAt, endAt },
    count: () => countEventsOf(deps, scope),
  })
}

function cursorOf(line: FeedLine): string {
  return formatActivityCursor(line)
}

type FeedRow = FeedEvent & { seq: number }

const listBySeq = statement((db) =>
  db
    .select({
      seq: events.seq,
      id: events.id,
      name: events.name,
      contactId: events.contactId,
      emailId: events.emailId,
      data: events.data,
      createdAt: events.createdAt,
      contactEmail: contacts.address,
    } satisfies Record<keyof FeedRow, unknown>)
    .from(events)
    .leftJoin(contacts, eq(contacts.id, events.contactId))
    .where(sql`${events.seq} in ${listOf(parameter('seqs'))}`),
)

/**
 * Returns the entries of the lines, undefined for deleted events. If the first emails are long,
 * entries for fewer lines are returned.
 */
async function readEntries(
  deps: FeedDeps,
  lines: readonly FeedLine[],
  isSummary: boolean,
): Promise<(ActivityRecord | undefined)[]> {
  const seqs = JSON.stringify(lines.map(({ seq }) => seq))
  const rows = await deps.store.scan.list(listBySeq, { seqs })
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  const emailIds = lines.flatMap(({ emailId }) => emailId ?? [])
  const { shown, unread } = await loadShownEmails(deps, emailIds, { isSummary })
  const end = lines.findIndex(({ emailId }) => unread.has(emailId ?? ''))
  return lines.slice(0, end === -1 ? lines.length : end).map(({ seq }) => {
    const row = bySeq.get(seq)
    return row === undefined ? undefined : toActivity(row, shown)
  })
}

/**
 * Selects the lines of a page; no lines for a contact of another project. SQLite takes the sizes
 * from the heads of the rows, without reading the texts.
 */
export function selectLines(scope: EventScope, limit: number): SQL {
  return sql`select page.seq, page.created_at as at, events.email_id as "emailId",
      coalesce(${octets(sql`events.data`)}, 0) as bytes
    from (${selectPage(scope, limit)}) as page ${orderedJoin()} events on events.seq = page.seq
    where ${unindexed(events.projectId)} = ${scope.projectId}
    order by page.created_at desc, page.seq desc`
}

/**
 * The start of a first page for which none is given: 30 days before its end or, without an end,
 * before now.
 */
function defaultStart({ cursor, endAt }: ActivityQuery, now: number): number | undefined {
  return cursor === undefined ? Math.min(now, endAt ?? now) - DEFAULT_SPAN_MS : undefined
}

type NameQuery = Pick<EventScope, 'projectId' | 'contactId'> & { names: string[] | undefined }

/**
 * Replaces `*` in the names by every name that a client chose, which are all names except those of
 * the service.
 */
async function findNames(
  deps: Pick<Base, 'store'>,
  { projectId, contactId, names }: NameQuery,
): Promise<Pick<EventScope, 'names' | 'exceptNames'>> {
  if (!names?.includes('*')) return { names }
  const exceptNames = serviceEventNames().filter((name) => !names.includes(name))
  if (contactId !== undefined) return { exceptNames }
  const known = await listNames(deps, { projectId, limit: MAX_NAMES + 1 })
  if (known.length > MAX_NAMES) return { exceptNames }
  const requestedUnlisted = UNLISTED_EVENTS.filter((name) => names.includes(name))
  return { names: [...known.filter((name) => !exceptNames.includes(name)), ...requestedUnlisted] }
}
