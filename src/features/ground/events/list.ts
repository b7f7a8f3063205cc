/**
 * Lists events, newest first. An index gives the page (`selectPage`) with the size of each event; the
 * events themselves are read slice by slice, as their reader takes them.
 */

import type { EventRecord, ListedEventRecord } from '../../../records/event.ts'
import type { RowOf } from '../../../store/database.ts'
import { listOf, octets, orderedJoin, startsWith } from '../../../store/dialect.ts'
import { desc, eq, getTableColumns, sql } from '../../../store/drizzle.ts'
import { contacts } from '../../../store/schema/contacts.ts'
import { events } from '../../../store/schema/events.ts'
import { contents, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../base.ts'
import { storedEventName } from '../conditions/field.ts'
import { type CountedEnd, withTotal } from '../list-totals.ts'
import { type Listing, pageListing, wholeListing } from '../listing.ts'
import { countEventsOf } from './count.ts'
import { findEventCursor, formatEventCursor } from './cursor.ts'
import { type EventEmail, eventEmailColumns } from './email-data.ts'
import { type EventCursor, type EventScope, selectPage } from './select-page.ts'
import { toEventRecord } from './view.ts'

type EventQuery = {
  projectId: string
  /** The most events of the page. */
  limit: number
  /** The stored name of the events, or an alias. */
  name?: string | undefined
  /** The cursor of the previous page, or the id of an event. */
  cursor?: string | undefined
}

type Deps = Pick<Base, 'store'>
type SizedEvent = EventCursor & { bytes: number }

const EMAIL_NAMES = Object.keys(eventEmailColumns) as (keyof EventEmail)[]

/**
 * The columns of emails under flat names, because drizzle decodes nested columns ten times slower.
 */
const emailColumns = Object.fromEntries(
  EMAIL_NAMES.map((name) => [`email.${name}`, eventEmailColumns[name]]),
) as { [Name in keyof EventEmail as `email.${Name}`]: (typeof eventEmailColumns)[Name] }

const selectBySeq = statement((db) =>
  db
    .select({
      ...getTableColumns(events),
      ...emailColumns,
      contactEmail: contacts.address,
      body: contents.body,
      isText: contents.isText,
      text: contents.text,
    })
    .from(events)
    .leftJoin(contacts, eq(contacts.id, events.contactId))
    .leftJoin(
      emails,
      sql`${emails.id} = ${events.emailId} and ${startsWith(events.name, 'email.')}`,
    )
    .leftJoin(
      contents,
      sql`${contents.id} = ${emails.contentId} and ${events.name} = 'email.received'`,
    )
    .where(sql`${events.seq} in ${listOf(parameter('seqs'))}`)
    .orderBy(desc(events.createdAt), desc(events.seq)),
)

/** @throws AppError VALIDATION_ERROR for an unknown cursor */
export async function listEvents(
  deps: Deps & Pick<Base, 'keyring' | 'listTotals'>,
  query: EventQuery,
): Promise<Listing<ListedEventRecord, CountedEnd>> {
  const { projectId, limit, name, cursor } = query
  const after = await findEventCursor(deps, projectId, cursor)
  const names = name === undefined ? undefined : [storedEventName(name)]
  const found = await listSizedEvents(deps, { projectId, names, after }, limit + 1)
  const lines = found.slice(0, limit)
  const last = found.length > limit ? lines.at(-1) : undefined
  const cursorOf = (line: SizedEvent) => formatEventCursor(deps, line)
  const page = pageListing({
    lines,
    bytesOf,
    read: (slice) => readEvents(deps, slice),
    cursorOf,
    endCursor: last === undefined ? null : cursorOf(last),
  })
  return withTotal(deps, {
    page,
    cursor,
    whole: last === undefined ? lines.length : undefined,
    query: { list: 'events', projectId, names },
    count: () => countEventsOf(deps, { projectId, names }),
  })
}

/**
 * Lists the newest events of a contact. The caller has checked that the project has the contact.
 */
export async function listContactEvents(
  deps: Deps,
  { projectId, contactId, limit }: { projectId: string; contactId: string; limit: number },
): Promise<Listing<EventRecord, object>> {
  return wholeListing({
    lines: await listSizedEvents(deps, { projectId, contactId }, limit),
    bytesOf,
    async read(slice) {
      const events = await readEvents(deps, slice)
      return events.map((listed) => {
        if (listed === undefined) return undefined
        const { contact, ...event } = listed
        return event
      })
    },
  })
}

function listSizedEvents({ store }: Deps, scope: EventScope, limit: number): Promise<SizedEvent[]> {
  return store.scan.all<SizedEvent>(selectSizedEvents(scope, limit))
}

/**
 * Selects the events of a page with their sizes. SQLite knows a size from the head of the row and
 * does not read the text.
 */
export function selectSizedEvents(scope: EventScope, limit: number) {
  return sql`select page.seq, page.created_at as at,
      coalesce(${octets(sql`events.data`)}, 0) + case when events.name = 'email.received' then coalesce((
        select ${octets(sql`contents.body`)} + coalesce(${octets(sql`contents.text`)}, 0)
        from emails join contents on contents.id = emails.content_id
        where emails.id = events.email_id), 0) else 0 end as bytes
    from (${selectPage(scope, limit)}) as page ${orderedJoin()} events on events.seq = page.seq
    order by page.created_at desc, page.seq desc`
}

async function readEvents(
  { store }: Deps,
  lines: readonly SizedEvent[],
): Promise<(ListedEventRecord | undefined)[]> {
  const seqs = JSON.stringify(lines.map(({ seq }) => seq))
  const rows = await store.scan.list(selectBySeq, { seqs })
  const bySeq = new Map(rows.map((row) => [row.seq, row]))
  return lines.map(({ seq }) => {
    const row = bySeq.get(seq)
    return row && toListedEvent(row)
  })
}

function toListedEvent(row: RowOf<typeof selectBySeq>): ListedEventRecord {
  const { contactEmail, body, isText, text } = row
  const contact = contactEmail === null ? null : { email: contactEmail }
  if (row['email.id'] === null) return { ...toEventRecord(row), contact }
  const email = Object.fromEntries(EMAIL_NAMES.map((name) => [name, row[`email.${name}`]]))
  const received = isText === null ? null : { body, isText, text }
  return { ...toEventRecord(row, { ...(email as EventEmail), received }), contact }
}

function bytesOf({ bytes }: SizedEvent): number {
  return bytes
}
