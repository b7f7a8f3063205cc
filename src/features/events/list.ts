/**
 * Lists events, newest first. An index gives the page (`selectPage`) with the size of each event;
 * only the events that fit into the response are read.
 */
import { listOf, octets, orderedJoin, startsWith } from '../../store/dialect.ts'
import { desc, eq, sql } from '../../store/drizzle.ts'
import { contacts } from '../../store/schema/contacts.ts'
import { events } from '../../store/schema/events.ts'
import { contents, emails } from '../../store/schema/messages.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'
import { findEventCursor, formatEventCursor } from './cursor.ts'
import { eventEmailColumns } from './email-data.ts'
import { limitPageBytes } from './page-bytes.ts'
import { type EventCursor, type EventScope, selectPage } from './select-page.ts'
import { type EventView, toEventView } from './view.ts'

type EventQuery = {
  projectId: string
  /** The maximum number of events; a page of large events ends early. */
  limit: number
  name?: string | undefined
  /** The cursor of the previous page, or the id of an event. */
  cursor?: string | undefined
}

type ListedEvent = EventView & { contact: { email: string } | null }
type EventPage = { events: ListedEvent[]; cursor: string | null; hasMore: boolean }

type Deps = Pick<Base, 'store'>
type SizedEvent = EventCursor & { bytes: number }

const selectBySeq = statement((db) =>
  db
    .select({
      event: events,
      contact: { email: contacts.address },
      email: eventEmailColumns,
      received: { body: contents.body, isText: contents.isText, text: contents.text },
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
export async function listEvents(deps: Deps, query: EventQuery): Promise<EventPage> {
  const { projectId, limit, name, cursor } = query
  const after = await findEventCursor(deps, projectId, cursor)
  const names = name === undefined ? undefined : [name]
  const lines = await listSizedEvents(deps, { projectId, names, after }, limit + 1)
  const page = limitPageBytes(lines.slice(0, limit), ({ bytes }) => bytes)
  const last = page.at(-1)
  const hasMore = lines.length > page.length
  return {
    events: await readEvents(deps, page),
    cursor: hasMore && last !== undefined ? formatEventCursor(last) : null,
    hasMore,
  }
}

/**
 * Lists the newest events of a contact. The caller has checked that the project has the contact.
 */
export async function listContactEvents(
  deps: Deps,
  { projectId, contactId, limit }: { projectId: string; contactId: string; limit: number },
): Promise<EventView[]> {
  const lines = await listSizedEvents(deps, { projectId, contactId }, limit)
  const listed = await readEvents(
    deps,
    limitPageBytes(lines, ({ bytes }) => bytes),
  )
  return listed.map(({ contact, ...event }) => event)
}

function listSizedEvents({ store }: Deps, scope: EventScope, limit: number): Promise<SizedEvent[]> {
  return store.scan.all<SizedEvent>(selectSizedEvents(scope, limit))
}

/** Sizes come from the heads of rows; the texts themselves are not read. */
export function selectSizedEvents(scope: EventScope, limit: number) {
  return sql`select page.seq, page.created_at as at,
      coalesce(${octets(sql`events.data`)}, 0) + case when events.name = 'email.received' then coalesce((
        select ${octets(sql`contents.body`)} + coalesce(${octets(sql`contents.text`)}, 0)
        from emails join contents on contents.id = emails.content_id
        where emails.id = events.email_id), 0) else 0 end as bytes
    from (${selectPage(scope, limit)}) as page ${orderedJoin()} events on events.seq = page.seq
    order by page.created_at desc, page.seq desc`
}

async function readEvents({ store }: Deps, lines: readonly SizedEvent[]): Promise<ListedEvent[]> {
  const seqs = JSON.stringify(lines.map(({ seq }) => seq))
  const rows = await store.scan.list(selectBySeq, { seqs })
  return rows.map(({ event, contact, email, received }) => ({
    ...toEventView(event, email === null ? null : { ...email, received }),
    contact,
  }))
}
