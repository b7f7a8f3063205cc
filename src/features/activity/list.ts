/**
 * The activity feed: the events of a project as people read them, newest first. Activity adds to
 * the stored events (`features/events`): an email's event comes with the message as its recipient
 * received it, rendered again from its snapshot, and with the base data of the email.
 */
import { DAY_MS } from '../../clock.ts'
import { unindexed } from '../../store/dialect.ts'
import { desc, eq, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import { events } from '../../store/schema/events.ts'
import type { Base } from '../base.ts'
import { findEventCursor, formatEventCursor } from '../events/cursor.ts'
import { listNames } from '../events/names.ts'
import { limitPageBytes } from '../events/page-bytes.ts'
import { type EventScope, selectPage } from '../events/select-page.ts'
import { UNLISTED_EVENTS } from '../events/unlisted.ts'
import { eventNamesOf, serviceEventNames } from './activity-types.ts'
import { findEmailBytes } from './email-bytes.ts'
import { type Activity, type FeedEvent, toActivity } from './entry.ts'
import { type FeedDeps, loadShownEmails } from './show-emails.ts'

type ActivityQuery = {
  /** The maximum number of entries; a page of large emails ends early. */
  limit: number
  /** The cursor of the previous page, or the id of an event. */
  cursor?: string | undefined
  /** Activity types; unknown ones are ignored. */
  types?: readonly string[] | undefined
  contactId?: string | undefined
  /** Without bodies. */
  isSummary?: boolean
  startAt?: number | undefined
  endAt?: number | undefined
}

type ActivityPage = { data: Activity[]; cursor: string | null; hasMore: boolean }

/** The range of a feed or of figures without a start. */
export const DEFAULT_SPAN_MS = 30 * DAY_MS

/** With more event names than this, the newest events are read one by one instead of by name. */
const MAX_NAMES = 1_000

/** @throws AppError VALIDATION_ERROR for an unknown cursor */
export async function listActivity(
  deps: FeedDeps & Pick<Base, 'now'>,
  projectId: string,
  query: ActivityQuery,
): Promise<ActivityPage> {
  const names = query.types === undefined ? undefined : eventNamesOf(query.types)
  if (names !== undefined && names.length === 0) return { data: [], cursor: null, hasMore: false }
  const { limit, contactId, endAt } = query
  const scope: EventScope = {
    projectId,
    contactId,
    ...(await findNames(deps, { projectId, contactId, names })),
    startAt: query.startAt ?? defaultStart(query, deps.now()),
    endAt,
    after: await findEventCursor(deps, projectId, query.cursor),
  }
  const rows = await selectEvents(deps, scope, limit + 1).all()
  const { data, last } = await showPage(deps, rows.slice(0, limit), query.isSummary === true)
  const hasMore = rows.length > data.length
  return { data, cursor: hasMore && last !== undefined ? cursorOf(last) : null, hasMore }
}

/** Returns as many entries as fit into a response, and the last event among them. */
async function showPage(deps: FeedDeps, rows: readonly FeedRow[], isSummary: boolean) {
  const wanted = isSummary ? [] : rows.flatMap(({ emailId }) => emailId ?? [])
  const sizes = await findEmailBytes(deps, wanted)
  const stored = limitPageBytes(rows, ({ emailId }) => sizes.get(emailId ?? '') ?? 0)
  const shown = await loadShownEmails(
    deps,
    stored.flatMap(({ emailId }) => emailId ?? []),
    { isSummary },
  )
  const lines = stored.map((event) => toActivity(event, shown))
  const data = limitPageBytes(
    lines,
    ({ metadata }) => String(metadata.body ?? '').length + String(metadata.text ?? '').length,
  )
  return { data, last: stored[data.length - 1] }
}

type FeedRow = FeedEvent & { seq: number }

/** Selects the rows of a page. For a contact of another project there are none. */
export function selectEvents({ store }: Pick<Base, 'store'>, scope: EventScope, limit: number) {
  return store.scan
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
    .where(
      sql`${events.seq} in (select seq from (${selectPage(scope, limit)}))
        and ${unindexed(events.projectId)} = ${scope.projectId}`,
    )
    .orderBy(desc(events.createdAt), desc(events.seq))
}

/** A first page without a start begins 30 days before its end, or before now. */
function defaultStart({ cursor, endAt }: ActivityQuery, now: number): number | undefined {
  return cursor === undefined ? Math.min(now, endAt ?? now) - DEFAULT_SPAN_MS : undefined
}

type NameQuery = Pick<EventScope, 'projectId' | 'contactId'> & { names: string[] | undefined }

/** `*` stands for every name that a client chose: all names except those of the service. */
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

function cursorOf({ createdAt, seq }: FeedRow): string {
  return formatEventCursor({ at: createdAt, seq })
}
