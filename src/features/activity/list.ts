/**
 * The activity feed (contract 15.1): events of a project, newest first. An email's events show the
 * message as its recipient got it, rendered again from its snapshot, and the base data of its events.
 */
import { invalidField } from '../../errors.ts'
import { and, desc, eq, gte, inArray, lte, type SQL, sql } from '../../store/drizzle.ts'
import { isUuid } from '../../store/ids.ts'
import { contacts, events } from '../../store/schema.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { type FeedDeps, showEmails } from './emails.ts'
import { type Activity, type FeedEvent, toActivity } from './entry.ts'
import { findSizes, fitPage } from './page-size.ts'
import { activityTypes, eventNamesOf } from './types.ts'

export type ActivityQuery = {
  /** At most; a page ends early where its emails are large. */
  limit: number
  /** As a page before gave it, or the id of an event. */
  cursor?: string | undefined
  /** Activity types; unknown ones are ignored. */
  types?: readonly string[] | undefined
  contactId?: string | undefined
  startAt?: number | undefined
  endAt?: number | undefined
}

export type ActivityPage = { data: Activity[]; cursor: string | null; hasMore: boolean }

/** What a feed or its figures show when they are not told since when. */
export const DEFAULT_SPAN_MS = 30 * 86_400_000

const findEvent = statement((db) =>
  db
    .select({ id: events.id, createdAt: events.createdAt })
    .from(events)
    .where(and(eq(events.id, parameter('id')), eq(events.projectId, parameter('projectId')))),
)

/** @throws AppError VALIDATION_ERROR for a cursor that is none of ours */
export async function listActivity(
  deps: FeedDeps & Pick<Core, 'now'>,
  projectId: string,
  query: ActivityQuery,
): Promise<ActivityPage> {
  const names = query.types === undefined ? undefined : eventNamesOf(query.types)
  if (names !== undefined && names.length === 0) return { data: [], cursor: null, hasMore: false }
  const cursor = await completeCursor(deps, projectId, query.cursor)
  const asked = { query: { ...query, cursor }, names }
  const rows = await selectEvents(deps, projectId, asked).all()
  const { data, last } = await showPage(deps, rows.slice(0, query.limit))
  const hasMore = rows.length > data.length
  return { data, cursor: hasMore && last !== undefined ? cursorOf(last) : null, hasMore }
}

/** As many of the events as make a response of bearable size, with the last of them. */
async function showPage(deps: FeedDeps, rows: readonly FeedEvent[]) {
  const sizes = await findSizes(
    deps,
    rows.flatMap(({ emailId }) => emailId ?? []),
  )
  const stored = fitPage(rows, ({ emailId }) => sizes.get(emailId ?? '') ?? 0)
  const shown = await showEmails(
    deps,
    stored.flatMap(({ emailId }) => emailId ?? []),
  )
  const lines = stored.map((event) => toActivity(event, shown))
  const data = fitPage(lines, ({ metadata }) => String(metadata.body ?? '').length)
  return { data, last: stored[data.length - 1] }
}

/** The query of a page, and one row more. */
export function selectEvents(
  { store, now }: Pick<Core, 'store' | 'now'>,
  projectId: string,
  { query, names }: { query: ActivityQuery; names: string[] | undefined },
) {
  const conditions: SQL[] = scopeOf(projectId, query.contactId)
  if (names !== undefined) conditions.push(nameCondition(names))
  if (query.cursor !== undefined) conditions.push(afterCursor(query.cursor))
  const startAt = query.startAt ?? defaultStart(query, now())
  if (startAt !== undefined) conditions.push(gte(events.createdAt, startAt))
  if (query.endAt !== undefined) conditions.push(lte(events.createdAt, query.endAt))
  return store.scan
    .select({
      id: events.id,
      name: events.name,
      contactId: events.contactId,
      emailId: events.emailId,
      data: events.data,
      createdAt: events.createdAt,
      contactEmail: contacts.email,
    } satisfies Record<keyof FeedEvent, unknown>)
    .from(events)
    .leftJoin(contacts, eq(contacts.id, events.contactId))
    .where(and(...conditions))
    .orderBy(desc(events.createdAt), desc(events.id))
    .limit(query.limit + 1)
}

/** A contact's own index is by far the shorter way: the plus keeps the project's out. */
function scopeOf(projectId: string, contactId: string | undefined): SQL[] {
  if (contactId === undefined) return [eq(events.projectId, projectId)]
  return [sql`+${events.projectId} = ${projectId}`, eq(events.contactId, contactId)]
}

/** A first page without a start shows the last 30 days, of now or of its own end. */
function defaultStart({ cursor, endAt }: ActivityQuery, now: number): number | undefined {
  return cursor === undefined ? Math.min(now, endAt ?? now) - DEFAULT_SPAN_MS : undefined
}

/** Names of service events are listed; `event.triggered` is whatever the client named itself. */
function nameCondition(names: string[]): SQL {
  if (!names.includes('*')) return inArray(events.name, names)
  const others = activityTypes
    .flatMap((type) => eventNamesOf([type]))
    .filter((name) => name !== '*')
  const wanted = names.filter((name) => name !== '*')
  return sql`(${events.name} in ${wanted} or ${events.name} not in ${others})`
}

function cursorOf({ createdAt, id }: Pick<FeedEvent, 'createdAt' | 'id'>): string {
  return `${createdAt}_${id}`
}

/** Of an event's bare id the cursor that it stands for; anything else as it is. */
async function completeCursor(
  { store }: Pick<Core, 'store'>,
  projectId: string,
  cursor: string | undefined,
): Promise<string | undefined> {
  if (cursor === undefined || !isUuid(cursor)) return cursor
  const event = await store.read.find(findEvent, { projectId, id: cursor })
  return event === undefined ? cursor : cursorOf(event)
}

/** The instant stands by itself too: SQLite begins an index with it, not with a pair. */
function afterCursor(cursor: string): SQL {
  const [, at, id] = /^(\d{1,15})_([0-9a-f-]{36})$/.exec(cursor) ?? []
  if (at === undefined || id === undefined) {
    throw invalidField('cursor', 'custom', 'The cursor is not one that this list gave out')
  }
  return sql`${events.createdAt} <= ${Number(at)} and (${events.createdAt}, ${events.id}) < (${Number(at)}, ${id})`
}
